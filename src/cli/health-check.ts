/** The image's health check: asks the server of this machine for `/healthz`, and ends with 0 or 1. */
import { readProcessConfig } from '../config/config.ts';
import { urlHost } from '../lib/local-routes.ts';
import { messageOf } from '../lib/unknown-value.ts';

const TIMEOUT_MS = 4000;

/** Where a server that listens on `host` is reached from its own machine: "all addresses" is none to connect to. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return urlHost(host);
}

/** @throws {Error} when there is no answer in time. */
async function isAlive(): Promise<boolean> {
  const { HOST, PORT } = readProcessConfig();
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(`http://${reachable(HOST)}:${PORT}/healthz`, { signal });
  return response.ok;
}

const isHealthy = await isAlive().catch((error: unknown) => {
  process.stderr.write(`not healthy: ${messageOf(error)}\n`);
  return false;
});
process.exitCode = isHealthy ? 0 : 1;
