/** The real command as a process: what it says, and how it ends. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sileroSized } from '../../bench/lib/silero-sized.ts';
import { temporaryFolder } from '../models/support/download-world.ts';
import { testModel } from '../models/support/manifests.ts';
import { type ModelServer, someBytes, startModelServer } from '../models/support/model-server.ts';
import { COMPILE_CACHE } from '../support/server/compile-cache.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILES = { 'config.json': someBytes(200, 1), 'onnx/a.onnx': someBytes(300_000, 2) };

interface Ended {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
}

interface CommandWorld {
  readonly server: ModelServer;
  readonly modelsDir: string;
  /** Options that name the list of these tests. */
  readonly manifest: string;
  run(words: readonly string[], environment?: NodeJS.ProcessEnv): Promise<Ended>;
  start(words: readonly string[]): ChildProcessWithoutNullStreams;
}

async function commandWorld(
  files: Readonly<Record<string, Buffer>> = FILES,
): Promise<CommandWorld> {
  const server = await startModelServer();
  for (const [path, bytes] of Object.entries(files)) server.files.set(`/src/${path}`, bytes);
  const folder = temporaryFolder();
  const modelsDir = join(folder, 'models');
  const manifest = join(folder, 'list.json');
  const models = [testModel(`${server.origin}/src/`, files)];
  writeFileSync(
    manifest,
    JSON.stringify({
      version: 1,
      profiles: { small: [], standard: ['asr'], best: ['asr'] },
      models,
    }),
  );
  const start = (words: readonly string[], environment: NodeJS.ProcessEnv = {}) => {
    const child = spawn(
      process.execPath,
      [join(ROOT, 'src/cli/models.ts'), '--manifest', manifest, '--no-self-test', ...words],
      {
        cwd: folder,
        env: { NODE_COMPILE_CACHE: COMPILE_CACHE, MODELS_DIR: modelsDir, ...environment },
      },
    );
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    return child;
  };
  return { server, modelsDir, manifest, start, run: (...given) => ended(start(...given)) };
}

function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  let output = '';
  let errors = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  child.stderr.on('data', (text) => {
    errors += text;
  });
  return new Promise((resolve) => {
    child.on('close', (status) => resolve({ status, output, errors }));
  });
}

test('npm run models downloads, shows licences first, and says who uses what; a second run finds all there', async () => {
  const { run, server, modelsDir } = await commandWorld();

  const first = await run([], { HF_TOKEN: 'hf_secret' });
  const second = await run(['--only', 'asr']);

  expect(first).toMatchObject({ status: 0, errors: '' });
  expect(first.output.indexOf('Test ASR: MIT (https://example.com/licence)')).toBeLessThan(
    first.output.indexOf('ok  stt/asr/config.json'),
  );
  expect(first.output).toContain('2 files, 300.2 kB to download');
  expect(first.output).toContain('Test ASR: engine "whisper", from "stt/asr"');
  expect(first.output).toContain(`stt: "${join(modelsDir, 'stt/asr')}" comes first`);
  expect(first.output).not.toContain('\u001b');
  expect(first.output).not.toContain('hf_secret');
  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  expect(second.output).toContain('was there, checked');
  expect(server.seen).toHaveLength(2);
});

test('npm run models -- --check tells what is missing and what is damaged, by its exit status too', async () => {
  const { run, modelsDir } = await commandWorld();

  const missing = await run(['--check']);
  await run([]);
  const right = await run(['--check']);
  writeFileSync(join(modelsDir, 'stt/asr/config.json'), someBytes(200, 9));
  const wrong = await run(['--check']);

  expect([missing.status, right.status, wrong.status]).toEqual([1, 0, 3]);
  expect(missing.output).toContain('missing  stt/asr/onnx/a.onnx');
  expect(wrong.output).toContain('damaged  stt/asr/config.json');
});

test('npm run models ends with 3 and names the file when a file is not what was promised', async () => {
  const { run, server, modelsDir } = await commandWorld();
  server.files.set('/src/config.json', someBytes(200, 5));

  const { status, errors } = await run([]);

  expect(status).toBe(3);
  expect(errors).toContain('Cannot use "stt/asr/config.json"');
  expect(existsSync(join(modelsDir, 'stt/asr/config.json'))).toBe(false);
  expect(existsSync(join(modelsDir, 'stt/asr/onnx/a.onnx'))).toBe(true);
});

test('npm run models stopped by Ctrl-C ends with 130, and goes on from there the next time', async () => {
  const { run, start, server, modelsDir } = await commandWorld();
  const bytes = FILES['onnx/a.onnx'];
  server.instead.set('/src/onnx/a.onnx', [
    (_request, response) => {
      response.writeHead(200, { 'content-length': bytes.length, etag: '"x"' });
      response.write(bytes.subarray(0, 100_000));
    },
  ]);
  const child = start([]);
  const stopped = ended(child);
  const part = join(modelsDir, 'stt/asr/onnx/a.onnx.part');
  while (!existsSync(part) || readFileSync(part).length < 100_000) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }

  child.kill('SIGINT');
  const { status } = await stopped;
  const again = await run([]);

  expect(status).toBe(130);
  expect(again.status).toBe(0);
  expect(server.seen.at(-1)?.headers.range).toBe('bytes=100000-');
  expect(readFileSync(join(modelsDir, 'stt/asr/onnx/a.onnx')).equals(bytes)).toBe(true);
});

test('a second run at the same time is told to wait, with 75', async () => {
  const { run, start, server } = await commandWorld();
  server.instead.set('/src/config.json', [() => undefined]);
  const first = start([]);
  const isOver = ended(first);
  while (server.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));

  const second = await run([]);
  first.kill('SIGTERM');

  expect(second.status).toBe(75);
  expect(second.errors).toContain('another run');
  expect((await isOver).status).toBe(130);
});

test('an archive made on one machine brings the models to another, without any network', async () => {
  const { run, server, modelsDir } = await commandWorld();
  const bundle = join(temporaryFolder(), 'models.tar');

  const made = await run(['--offline-bundle', bundle]);
  rmSync(modelsDir, { recursive: true });
  await server.stop();
  const taken = await run(['--from-bundle', bundle]);

  expect([made.status, taken.status]).toEqual([0, 0]);
  expect(made.output).toContain(`--from-bundle ${bundle}`);
  expect(readFileSync(join(modelsDir, 'stt/asr/config.json')).equals(FILES['config.json'])).toBe(
    true,
  );
  expect(taken.output).toContain('2 files unpacked');
});

test.each([
  [['--only', 'nose'], {}, 2, 'There is no model "nose"'],
  [['--profile', 'huge'], {}, 2, 'Allowed choices are small, standard, best'],
  [['--from-bundle', '/nowhere.tar'], {}, 2, 'Cannot read the archive "/nowhere.tar"'],
  [[], { MODELS_BASE_URL: 'https://me:secret@mirror.example' }, 78, 'MODELS_BASE_URL'],
  [[], { MODELS_DIR: '/dev/null/x' }, 1, 'MODELS_DIR'],
])('npm run models %j %j ends with %d', async (words, environment, status, text) => {
  const { run } = await commandWorld();

  const { status: found, errors } = await run(words, environment);

  expect(found).toBe(status);
  expect(errors).toContain(text);
  expect(errors).not.toContain('    at ');
  expect(errors).not.toContain('secret@');
});

test('npm run models -- --list shows every model with its size, licence, profiles and state', async () => {
  const { run } = await commandWorld();

  const { status, output } = await run(['--list']);

  expect(status).toBe(0);
  expect(output.split('\n').slice(0, 2)).toEqual([
    'ID   KIND  SIZE      LICENCE  PROFILES       STATE',
    'asr  stt   300.2 kB  MIT      standard best  not there',
  ]);
});

test('npm run models prepares a Silero model that lies in the folder, and keeps it', async () => {
  const { run, modelsDir } = await commandWorld();
  mkdirSync(join(modelsDir, 'vad'), { recursive: true });
  const path = join(modelsDir, 'vad/silero_vad.onnx');
  writeFileSync(path, sileroSized());

  const first = await run([]);
  const second = await run([]);

  expect(first.output).toContain(`prepared  ${path}\n`);
  expect(existsSync(join(modelsDir, 'vad/silero_vad.prepared.onnx'))).toBe(true);
  expect(second.output).toContain(`prepared  ${path}  was there\n`);
  // The test's own model is no Whisper.
  expect(first.output).toContain(
    `not prepared  ${join(modelsDir, 'stt/asr/onnx/encoder_model.onnx')}`,
  );
});
