/** The image's health check: asks the server of this machine for `/healthz`, and ends with 0 or 1. */
import { readProcessConfig } from '../config/config.ts';
import { localUrlHost } from '../lib/local-routes.ts';
import { messageOf } from '../lib/unknown-value.ts';

const TIMEOUT_MS = 4000;

/** @throws {Error} when there is no answer in time. */
async function isAlive(): Promise<boolean> {
  const { HOST, PORT } = readProcessConfig();
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(`http://${localUrlHost(HOST)}:${PORT}/healthz`, { signal });
  return response.ok;
}

const isHealthy = await isAlive().catch((error: unknown) => {
  process.stderr.write(`not healthy: ${messageOf(error)}\n`);
  return false;
});
process.exitCode = isHealthy ? 0 : 1;
