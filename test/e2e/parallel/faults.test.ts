import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const ROOT = join(import.meta.dirname, '../../..');
const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

function folder(name: string): string {
  const path = mkdtempSync(join(tmpdir(), `offhook-${name}-`));
  undo.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function start(environment: Readonly<Record<string, string>>): Promise<TestServer> {
  const server = await startServer({ environment });
  undo.push(() => server.stop());
  return server;
}

/** Rings, listens for a while, hangs up; how many milliseconds of voice were heard. */
async function listenFor(server: TestServer, listenMs: number): Promise<number> {
  const phone = new Phone();
  await phone.start();
  undo.push(() => phone.stop());
  const call = await phone.call(`sip:+12025550123@127.0.0.1:${server.sipPort}`);
  await new Promise((resolve) => setTimeout(resolve, listenMs));
  await call.hangUp();
  return call.line.heard.filter(({ isVoiced }) => isVoiced).length * 20;
}

test('a wrong setting ends the start with 78 and names the setting, before any port is open', async () => {
  const server = await start({ RTP_PORTS: '30000-20000', MAX_CALLS: 'many' });

  expect(await server.exited).toBe(78);
  expect(server.output).toContain('RTP_PORTS');
  expect(server.output).toContain('MAX_CALLS');
});

test.each([
  ['DATABASE_URL', '/proc/nowhere/offhook.db', '/proc/nowhere'],
  ['DATA_DIR', '/dev/null', '/dev/null/recordings'],
])('a %s whose folder cannot be made ends the start with 78 and names both', async (name, value, folder) => {
  const server = await start({ [name]: value });

  expect(await server.exited).toBe(78);
  expect(server.output).toContain(`Cannot use ${name}: the folder "${folder}" cannot be made`);
});

test('a broken trunk file ends the start and names trunk and field', async () => {
  const trunks = join(folder('trunks'), 'trunks.json');
  writeFileSync(trunks, JSON.stringify([{ name: 'acme', proxy: 'sip.example.com:99999' }]));
  const server = await start({ SIP_TRUNKS: trunks });

  expect(await server.exited).not.toBe(0);
  expect(server.output).toContain('trunk "acme": proxy');
});

test.each(['PORT', 'SIP_PORT'])('a busy %s ends the start and names the port', async (name) => {
  const blocker = createServer();
  await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
  undo.push(() => blocker.close());
  const address = blocker.address();
  const port = typeof address === 'object' && address !== null ? String(address.port) : '';
  const server = await start({ [name]: port });

  expect(await server.exited).toBe(1);
  expect(server.output).toContain(`127.0.0.1:${port}`);
});

test('a damaged model file is named at start and a fallback takes over', async () => {
  const modelsDir = folder('models');
  mkdirSync(join(modelsDir, 'vad'), { recursive: true });
  const target = join(modelsDir, 'vad', 'silero');
  cpSync(join(ROOT, 'models/tiny/vad'), target, { recursive: true });
  truncateSync(join(target, 'silero_shaped.onnx'), 1000);
  const server = await (await start({ MODELS_DIR: modelsDir })).ready();
  await server.createAgent();

  const heardMs = await listenFor(server, 2500);

  expect(server.output).toContain('silero_shaped.onnx');
  expect(heardMs).toBeGreaterThan(500);
});

test('a damaged model that was asked for by name ends the start and names the file', async () => {
  const modelsDir = folder('models');
  cpSync(join(ROOT, 'models/tiny/vad'), join(modelsDir, 'vad', 'silero'), { recursive: true });
  truncateSync(join(modelsDir, 'vad', 'silero', 'silero_shaped.onnx'), 1000);
  const server = await start({ MODELS_DIR: modelsDir, VAD: 'silero' });

  expect(await server.exited).toBe(1);
  expect(server.output).toContain('silero_shaped.onnx');
});

test('an engine that was asked for by name without a model ends the start, and the command that fetches one is told', async () => {
  const server = await start({ MODELS_DIR: folder('models'), STT: 'moonshine' });

  expect(await server.exited).toBe(1);
  expect(server.output).toContain('no moonshine model in');
  expect(server.output).toContain('"npm run models -- --only moonshine-base" downloads one');
});

test('a disk that is full for recordings is said in the log, and the call goes on', async () => {
  const dataDir = folder('full');
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dataDir]);
  const isSmall = mounted.status === 0;
  if (isSmall) undo.push(() => spawnSync('umount', ['-l', dataDir]));
  const database = join(folder('database'), 'offhook.db');
  const where = { DATA_DIR: dataDir, DATABASE_URL: database };
  const server = await (await start({ ...where, DISK_FREE_MIN_MB: '0' })).ready();
  // Without the right to mount, a recordings folder that is gone fails the same writes.
  if (!isSmall) rmSync(join(dataDir, 'recordings'), { recursive: true });
  await server.createAgent({ greeting: 'Hello. This is a long greeting, and it goes on and on.' });

  const heardMs = await listenFor(server, 5000);
  const calls = await server.endedCalls();

  expect(server.output).toContain('recording stopped, the call goes on');
  expect(heardMs).toBeGreaterThan(1500);
  expect(calls).toMatchObject([{ status: 'completed', endReason: 'user_hangup' }]);
});
