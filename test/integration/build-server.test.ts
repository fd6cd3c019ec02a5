/** The build of `dist/server` on a small server of its own, with the real Rolldown: what it prints is what its sources print. */
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** A program with a thread in another folder, a file next to its source, a package, and the root's package.json. */
const SOURCES: Readonly<Record<string, string>> = {
  'src/main.ts': `
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import sdp from 'sdp-transform';
import { answerOf } from './speech/thread-handle.ts';
const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8').trim();
console.log(JSON.stringify({
  version: JSON.parse(read('../package.json')).version,
  rules: read('./rules.json'),
  root: resolve(import.meta.dirname, '..'),
  port: sdp.parse('m=audio 4000 RTP/AVP 0\\r\\n').media[0]?.port,
  answer: await answerOf(1),
}));
`,
  'src/rules.json': '{"rules":[]}',
  'src/speech/thread-handle.ts': `
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
export async function answerOf(question: number): Promise<unknown> {
  const thread = new Worker(new URL('./deep/own-thread.ts', import.meta.url), { workerData: question });
  return (await once(thread, 'message'))[0];
}
`,
  'src/speech/deep/own-thread.ts': `
import { parentPort, workerData } from 'node:worker_threads';
import { STEP } from '../step.ts';
parentPort?.postMessage(workerData + STEP);
`,
  'src/speech/step.ts': 'export const STEP = 1;\n',
  'src/cli/admin.ts': 'console.log(1);\n',
  'src/cli/models.ts': `import { PREPARED } from '../../models/prepare/prepare.ts';\nconsole.log(PREPARED);\n`,
  'src/cli/health-check.ts': 'console.log(3);\n',
  'models/prepare/prepare.ts': 'export const PREPARED = 2;\n',
  'package.json':
    '{"type":"module","version":"1.2.3","scripts":{"start":"node --max-semi-space-size=16 x"}}',
  'package-lock.json': '{}',
};

interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

interface Checkout {
  readonly folder: string;
  build(...words: string[]): Promise<Ended>;
  run(program: string): Promise<Ended>;
  write(file: string, text: string): void;
}

function checkout(packages: readonly string[] = ['rolldown', 'sdp-transform']): Checkout {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-build-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  for (const [file, text] of Object.entries(SOURCES)) write(file, text);
  for (const file of ['src/cli/build-server.ts', 'src/cli/build-output.ts']) {
    cpSync(join(ROOT, file), join(folder, file));
  }
  mkdirSync(join(folder, 'node_modules'));
  for (const name of packages) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const run = (...words: string[]) => runNode(folder, words);
  return { folder, run, build: (...words) => run('src/cli/build-server.ts', ...words), write };
}

function runNode(cwd: string, words: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...words], { cwd }, (error, out, err) =>
      resolve({ status: Number(error?.code ?? 0), out, err }),
    );
  });
}

test('the built server finds threads, files, packages and the root where its sources do', async () => {
  const { folder, build, run } = checkout();

  const built = await build();
  const [fromSource, fromBuilt] = [await run('src/main.ts'), await run('dist/server/main.js')];
  const models = await run('dist/server/models.js');

  expect(built).toEqual({ status: 0, out: '', err: expect.stringMatching(/^Server: built in/) });
  expect(fromSource).toMatchObject({ status: 0, out: expect.stringContaining('"answer":2') });
  expect(fromBuilt).toEqual(fromSource);
  expect(models.out).toBe('2\n');
  expect(readdirSync(join(folder, 'dist'))).toEqual(['server']);
});

test('it is built once, and again when a source of ours, a preparation or a package has changed', async () => {
  const { build, run, write } = checkout();
  await build();

  const untouched = await build();
  write('src/speech/step.ts', 'export const STEP = 7;\n');
  const afterSource = await build();
  const { out } = await run('dist/server/main.js');
  write('models/prepare/prepare.ts', 'export const PREPARED = 5;\n');
  const afterPreparation = await build();
  write('package-lock.json', '{"packages":{}}');
  const afterPackages = await build();

  expect(untouched.err).toBe('Server: built already\n');
  for (const { err } of [afterSource, afterPreparation, afterPackages]) {
    expect(err).toMatch(/^Server: built in [\d.]+ s\n$/);
  }
  expect(JSON.parse(out).answer).toBe(8);
});

test('with --missing it is built only where there is none, so that a server in it finds what it loads later', async () => {
  const { build, run, write } = checkout();

  const first = await build('--missing');
  write('src/speech/step.ts', 'export const STEP = 7;\n');
  const afterSource = await build('--missing');
  const { out } = await run('dist/server/main.js');

  expect(first.err).toMatch(/^Server: built in [\d.]+ s\n$/);
  expect(afterSource.err).toBe('Server: built already\n');
  expect(JSON.parse(out).answer).toBe(2);
});

test('starts that build at the same time do not disturb each other', async () => {
  const { folder, build, run } = checkout();

  const builds = await Promise.all([build(), build(), build()]);
  const { out } = await run('dist/server/main.js');

  for (const { status, err } of builds) {
    expect([status, err]).toEqual([0, expect.stringMatching(/^Server: built (in|already)/)]);
  }
  expect(JSON.parse(out).answer).toBe(2);
  expect(readdirSync(join(folder, 'dist'))).toEqual(['server']);
});

test('where it cannot be built, the same command runs the sources, and never what was built from others', async () => {
  const { folder, build, run, write } = checkout();
  await build();
  rmSync(join(folder, 'node_modules/rolldown'));
  write('src/speech/step.ts', 'export const STEP = 7;\n');

  const atStart = await build();
  const asked = await build('--always');
  const { out } = await run('dist/server/main.js');

  const line =
    'Server: not built: rolldown is not installed (npm ci installs it); it runs from its sources, which starts slower\n';
  expect([atStart.status, atStart.err]).toEqual([0, line]);
  expect([asked.status, asked.err]).toEqual([1, line]);
  expect(JSON.parse(out).answer).toBe(8);
});

test('two modules that would become one file are named', async () => {
  const { build, write } = checkout();
  write('src/own-thread.ts', 'export const OTHER = 1;\n');
  write('src/other.ts', `export const OTHER = new URL('./own-thread.ts', import.meta.url);\n`);

  const { err } = await build();

  expect(err).toContain('would both become "own-thread.js"');
});

test('each step of the main program is one file, also where a thread or another program has the same modules', async () => {
  const { folder, build, run, write } = checkout();
  write('src/cli/admin.ts', `import { PORT } from '../compose/port.ts';\nconsole.log(PORT);\n`);
  write('src/compose/port.ts', 'export const PORT = 5060;\n');
  for (const part of ['app-parts', 'app']) {
    const source = `import { PORT } from './port.ts';\nimport { STEP } from '../speech/step.ts';\nexport const SUM = PORT + STEP;\n`;
    write(`src/compose/${part}.ts`, source);
  }
  write(
    'src/main.ts',
    `import { answerOf } from './speech/thread-handle.ts';
import { STEP } from './speech/step.ts';
const [{ SUM }, { SUM: again }] = [await import('./compose/app-parts.ts'), await import('./compose/app.ts')];
console.log(SUM + again + STEP + Number(await answerOf(1)));
`,
  );

  await build();
  const { out } = await run('dist/server/main.js');

  expect(out).toBe('10125\n');
  expect(chunksOf(join(folder, 'dist/server'), 'main.js')).toEqual([
    'app',
    'app-parts',
    'main',
    'start',
  ]);
});

/** Names, without their hashes, of the files that a built file loads by `import`, its own included. */
function chunksOf(folder: string, program: string): readonly string[] {
  const files = new Set([program]);
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, imported = ''] of text.matchAll(/import[^;]*?"\.\/([^"]+)"/g))
      files.add(imported);
  }
  return [...new Set([...files].map((file) => file.replace(/-.{8}\.js$|\.js$/, '')))].sort();
}
