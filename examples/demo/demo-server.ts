/** The server that the demo phones: the one that answers already, or one of its own with an empty data folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import type { Config } from '../../src/config/config.ts';

const ROOT = join(import.meta.dirname, '../..');
const START_MS_MAX = 60_000;

/** Not the server's usual ones, and below those that systems give to sockets that want any port. */
const RTP_PORTS = '28000-28099';

export interface DemoServer {
  readonly baseUrl: string;
  readonly key: string;
  readonly sipHostPort: string;
  readonly dataDir: string;
  /** Whether it was started for the demo, on free ports and with an empty data folder. */
  readonly isOwn: boolean;
  /** What `/readyz` says. */
  readonly readiness: Readiness;
  stop(): Promise<void>;
}

export interface Readiness {
  readonly engines: readonly {
    readonly job: string;
    readonly engine: string;
    readonly reason: string;
    readonly isFallback: boolean;
  }[];
}

async function readinessOf(baseUrl: string): Promise<Readiness | undefined> {
  try {
    const response = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(2000) });
    return response.ok ? ((await response.json()) as Readiness) : undefined;
  } catch {
    // No server answers there, which is one of the two answers wanted.
    return undefined;
  }
}

/**
 * Finds the server of these settings where they have its live key, else starts one of its own.
 *
 * @throws {Error} when it does not become ready.
 */
export async function findOrStartServer(config: Config): Promise<DemoServer> {
  if (config.BOOTSTRAP_LIVE_KEY === undefined) return startServer();
  const baseUrl = `http://${config.HOST}:${config.PORT}`;
  const readiness = await readinessOf(baseUrl);
  if (readiness === undefined) return startServer();
  return {
    baseUrl,
    key: config.BOOTSTRAP_LIVE_KEY,
    sipHostPort: `${config.SIP_HOST}:${config.SIP_PORT}`,
    dataDir: config.DATA_DIR,
    isOwn: false,
    readiness,
    stop: async () => undefined,
  };
}

async function startServer(): Promise<DemoServer> {
  const [port, sipPort] = [await freePort(), await freePort()];
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-demo-'));
  const key = `svc_live_${randomBytes(16).toString('hex')}`;
  const trunks = join(dataDir, 'no-trunks.json');
  writeFileSync(trunks, '[]');
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: ROOT,
    env: {
      ...env,
      ...{ PORT: String(port), SIP_PORT: String(sipPort), DATA_DIR: dataDir },
      ...{ BOOTSTRAP_LIVE_KEY: key, LOG_LEVEL: 'warn' },
      // .env may be that of a server which runs already: its database, carriers and ports are not touched.
      ...{ DATABASE_URL: '', SIP_TRUNKS: trunks, RTP_PORTS },
      ...{ HOST: '127.0.0.1', SIP_HOST: '127.0.0.1', TELEPHONY: 'embedded', MEDIA: 'direct' },
      ...{ PUBLIC_URL: '', PUBLIC_ADDRESS: '', WEBHOOK_SIGNING_SECRET: '' },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.resume();
  const baseUrl = `http://127.0.0.1:${port}`;
  const readiness = await untilReady(child, baseUrl);
  const sipHostPort = `127.0.0.1:${sipPort}`;
  const stop = () => stopServer(child);
  return { baseUrl, key, sipHostPort, dataDir, isOwn: true, readiness, stop };
}

async function untilReady(child: ChildProcess, baseUrl: string): Promise<Readiness> {
  const deadlineMs = performance.now() + START_MS_MAX;
  while (performance.now() < deadlineMs && child.exitCode === null) {
    const readiness = await readinessOf(baseUrl);
    if (readiness !== undefined) return readiness;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  child.kill('SIGKILL');
  throw new Error('Cannot start the demo server: it did not become ready; see its messages above');
}

function stopServer(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    child.on('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill('SIGTERM');
  });
}

/** A port that is free at this moment, for UDP and for TCP. */
async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const port = await freeUdpPort();
    if (await isFreeForTcp(port)) return port;
  }
  throw new Error('Cannot start the demo server: no free port was found in 20 attempts');
}

function freeUdpPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4');
    socket.once('error', reject);
    socket.bind(0, '127.0.0.1', () => {
      const { port } = socket.address();
      socket.close(() => resolve(port));
    });
  });
}

function isFreeForTcp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
