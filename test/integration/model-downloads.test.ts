/** Downloads of models that the server starts: the real command in a process of its own, against a hub on this machine. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import type { ModelDownload } from '../../src/domain/models/model-downloads.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import type { FilesModel } from '../../src/model-store/manifest.ts';
import { CommandDownloads } from '../../src/model-store/server-downloads/command-downloads.ts';
import { temporaryFolder } from '../models/support/download-world.ts';
import { testModel } from '../models/support/manifests.ts';
import { cutAfter, someBytes, startModelServer } from '../models/support/model-server.ts';

const COMMAND = join(import.meta.dirname, '../../src/cli/models.ts');

const WEIGHTS = 'onnx/a.onnx';
const FILES = { 'config.json': someBytes(200, 1), [WEIGHTS]: someBytes(300_000, 2) };
/** A process starts within this, on a busy machine too. */
const WAIT_MS_MAX = 60_000;

const DEAD = 'http://127.0.0.1:9';

async function world(changes: Partial<FilesModel> = {}) {
  const hub = await startModelServer();
  for (const [path, bytes] of Object.entries(FILES)) hub.files.set(`/src/${path}`, bytes);
  const folder = temporaryFolder();
  const modelsDir = join(folder, 'models');
  const manifestFile = join(folder, 'list.json');
  const models = [testModel(`${hub.origin}/src/`, FILES, changes)];
  const profiles = { small: [], standard: ['asr'], best: ['asr'] };
  writeFileSync(manifestFile, JSON.stringify({ version: 1, profiles, models }));
  const environment = { MODELS_DIR: modelsDir, OLLAMA_HOST: DEAD };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const downloads = new CommandDownloads({
    settings: readConfig(environment),
    clock: systemClock,
    newId: (prefix) => `${prefix}_1`,
    log: silentLogger,
    manifestFile,
  });
  onTestFinished(() => downloads.stop());
  const file = (path: string) => join(modelsDir, 'stt/asr', path);
  return { hub, downloads, manifestFile, file };
}

type Downloads = Pick<CommandDownloads, 'newest'>;

async function until(downloads: Downloads, holds: (newest: ModelDownload) => boolean) {
  const deadlineMs = performance.now() + WAIT_MS_MAX;
  for (;;) {
    const { newest } = downloads;
    if (newest !== undefined && holds(newest)) return newest;
    if (performance.now() > deadlineMs) throw new Error(`It stays ${JSON.stringify(newest)}`);
    await wait(20);
  }
}

const ended = (downloads: Downloads) => until(downloads, ({ state }) => state !== 'running');

/** The beginning of a file, and then nothing. */
function stall(sent: number) {
  return cutAfter(FILES[WEIGHTS] ?? Buffer.alloc(0), sent, new Promise(() => undefined));
}

test('a download brings the files of a profile, and a restart is needed then', async () => {
  const { downloads, file } = await world();
  const before = await downloads.catalogue();

  const begun = await downloads.start({ profile: 'standard' });
  const newest = await ended(downloads);

  const after = await downloads.catalogue();
  expect(begun).toMatchObject({ id: 'dl_1', profile: 'standard', state: 'running' });
  expect(newest).toMatchObject({ state: 'completed', problem: null, files: [] });
  expect([newest.doneBytes, newest.totalBytes]).toEqual([300_200, 300_200]);
  expect(readFileSync(file(WEIGHTS)).equals(FILES[WEIGHTS] ?? Buffer.alloc(0))).toBe(true);
  expect(before.models).toMatchObject([
    { id: 'asr', licence: 'MIT', sizeBytes: 300_200, missingBytes: 300_200, state: 'not_there' },
  ]);
  expect(after.models).toMatchObject([{ missingBytes: 0, state: 'there' }]);
  expect(after.profiles).toMatchObject([
    { name: 'small', modelIds: [], sizeBytes: 0 },
    { name: 'standard', modelIds: ['asr'], sizeBytes: 300_200, missingBytes: 0 },
    { name: 'best', modelIds: ['asr'] },
  ]);
  expect([before.isRestartNeeded, after.isRestartNeeded]).toEqual([false, true]);
});

test('progress is told while a file comes, and another download has to wait', async () => {
  const { hub, downloads } = await world();
  hub.instead.set(`/src/${WEIGHTS}`, [stall(100_000)]);

  const starts = await Promise.allSettled([
    downloads.start({ modelId: 'asr' }),
    downloads.start({ modelId: 'asr' }),
  ]);
  const during = await until(downloads, ({ doneBytes }) => doneBytes >= 100_000);
  const third = downloads.start({ modelId: 'asr' });

  await expect(third).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(starts.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(during).toMatchObject({
    ...{ modelId: 'asr', profile: null, state: 'running', totalBytes: 300_200 },
    files: [`stt/asr/${WEIGHTS}`],
  });
});

test('a cancelled download leaves no file under its name, and the next one goes on from there', async () => {
  const { hub, downloads, file } = await world();
  hub.instead.set(`/src/${WEIGHTS}`, [stall(100_000)]);
  await downloads.start({ modelId: 'asr' });
  await until(downloads, ({ doneBytes }) => doneBytes >= 100_000);

  await downloads.cancel();
  const cancelled = downloads.newest;
  const isThere = existsSync(file(WEIGHTS));
  await downloads.start({ modelId: 'asr' });
  const again = await ended(downloads);

  expect(cancelled).toMatchObject({ state: 'cancelled', problem: null });
  expect(isThere).toBe(false);
  expect(again.state).toBe('completed');
  expect(hub.seen.at(-1)?.headers.range).toBe('bytes=100000-');
});

test('a server that stops ends its download, and begins none after', async () => {
  const { hub, downloads, file } = await world();
  hub.instead.set(`/src/${WEIGHTS}`, [stall(100_000)]);
  await downloads.start({ modelId: 'asr' });
  await until(downloads, ({ doneBytes }) => doneBytes >= 100_000);

  await downloads.stop();

  expect(downloads.newest?.state).toBe('cancelled');
  expect(existsSync(file(WEIGHTS))).toBe(false);
  await expect(downloads.start({ modelId: 'asr' })).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
  });
});

test('the process ends by itself when its server is gone', async () => {
  const { hub, manifestFile, file } = await world();
  hub.instead.set(`/src/${WEIGHTS}`, [stall(100_000)]);
  const words = ['--no-self-test', '--manifest', manifestFile];
  const child = fork(COMMAND, words, {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const part = file(`${WEIGHTS}.part`);
  while (!existsSync(part) || readFileSync(part).length < 100_000) await wait(20);

  child.disconnect();
  const [status] = await once(child, 'exit');

  expect(status).toBe(130);
  expect(existsSync(file(WEIGHTS))).toBe(false);
});

test('wrong bytes are refused by name, and nothing of them is kept', async () => {
  const { hub, downloads, file } = await world();
  hub.files.set('/src/config.json', someBytes(200, 5));

  await downloads.start({ modelId: 'asr' });
  const { state, problem } = await ended(downloads);

  expect(state).toBe('failed');
  expect(problem).toContain('Cannot use "stt/asr/config.json"');
  expect(existsSync(file('config.json'))).toBe(false);
  expect(readdirSync(file('.'))).not.toContain('config.json.part');
  expect((await downloads.catalogue()).isRestartNeeded).toBe(false);
});

test('a refusal of the hub is reported in a sentence', async () => {
  const { hub, downloads, file } = await world();
  hub.files.delete(`/src/${WEIGHTS}`);

  await downloads.start({ profile: 'best' });
  const { state, problem } = await ended(downloads);

  expect(state).toBe('failed');
  expect(problem).toMatch(/Cannot download "stt\/asr\/onnx\/a.onnx".*404/);
  expect(existsSync(file(WEIGHTS))).toBe(false);
});

test('an unreachable hub is reported in a sentence, and the received part stays for the next download', async () => {
  const { hub, downloads, file } = await world();
  hub.instead.set(`/src/${WEIGHTS}`, [stall(100_000)]);
  await downloads.start({ modelId: 'asr' });
  await until(downloads, ({ doneBytes }) => doneBytes >= 100_000);

  await hub.stop();
  const { state, problem } = await ended(downloads);

  expect(state).toBe('failed');
  expect(problem).toMatch(/Cannot download "stt\/asr\/onnx\/a.onnx".*run the same command again/);
  expect(existsSync(file(WEIGHTS))).toBe(false);
  expect(readFileSync(file(`${WEIGHTS}.part`)).length).toBe(100_000);
});

test('a disk that is too small is refused before anything is asked for', async () => {
  const { hub, downloads } = await world({
    files: [{ path: WEIGHTS, bytes: 9e14, sha256: 'a'.repeat(64) }],
  });

  const start = downloads.start({ profile: 'standard' });

  await expect(start).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringMatching(/900.0 TB are needed and .* are free; make room/),
  });
  expect(hub.seen).toEqual([]);
  expect(downloads.newest).toBeUndefined();
});

test('an unknown model is refused', async () => {
  const { downloads } = await world();

  const start = downloads.start({ modelId: 'nose' });

  await expect(start).rejects.toMatchObject({ code: 'UNPROCESSABLE' });
});
