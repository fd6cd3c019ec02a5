/**
 * What the pages have to be typed for models works as it stands: against a hub on this machine with our tiny models. npm is a double
 * that runs the project's own commands from a folder of the test's, and takes llama.cpp from `models/llama-cpp`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { codeBlocksOf, PAGES } from '../docs/code-blocks.ts';
import { makeEmbeddingModel } from '../llm/support/tiny-embedding-model.ts';
import { temporaryFolder } from '../models/support/download-world.ts';
import { startTinyHub, TINY_MODELS } from '../models/support/tiny-hub.ts';
import { freePort } from '../support/network/free-ports.ts';
import { COMPILE_CACHE } from '../support/server/compile-cache.ts';
import { commandOf } from '../support/server/documented-commands.ts';
import { startServer } from '../support/server/server.ts';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGES = join(ROOT, 'models/llama-cpp/node_modules');
const DEAD = 'http://127.0.0.1:9';

/** Each text once, with the first page that has it. */
const SCRIPTS = [
  ...new Map(
    PAGES.flatMap(codeBlocksOf)
      .filter(({ tag }) => tag === 'sh download')
      .map(({ text, page }) => [text, page] as const)
      .reverse(),
  ),
].map(([text, page]) => [page, text] as const);

/** What a block says of the machine on which its next commands are typed. */
const ANOTHER_MACHINE = /^# where there is none$|^MODELS_BASE_URL=/;

/** What `/readyz` must say after a start with the setting. */
const STATE_AFTER: Readonly<Record<string, string>> = {
  LLM: '"engine":"llama-cpp/qwen3-4b"',
  KNOWLEDGE_EMBEDDINGS: 'onnx/multilingual-e5-small answers',
};

interface Machine {
  /** Runs one line as it is typed, in the folder with `models/`. @returns what it printed. */
  type(line: string): Promise<string>;
  /** From here on models are kept in an empty folder, and the hub is out of reach. */
  change(): void;
  modelsDir(): string;
}

async function startMachine(): Promise<Machine> {
  const { hub, writeList, modelFrom } = await startTinyHub();
  const folder = temporaryFolder();
  let modelsDir = join(folder, 'models');
  const list = join(folder, 'list.json');
  const embedding = makeEmbeddingModel('multilingual-e5-small');
  const files = [
    'config.json',
    'tokenizer.json',
    'tokenizer_config.json',
    'onnx/model_quantized.onnx',
  ];
  writeList(list, [
    modelFrom(embedding.folder, 'e5', files, {
      ...{ id: 'multilingual-e5-small', kind: 'embedding', engine: 'onnx' },
      folder: 'embedding/multilingual-e5-small',
    }),
  ]);
  copyFileSync(join(TINY_MODELS, 'llm/tiny.gguf'), join(folder, 'some-model.gguf'));
  const programs = join(folder, 'bin');
  mkdirSync(programs);
  const models = `exec "${process.execPath}" "${ROOT}/src/cli/models.ts" --manifest "${list}" "$@"`;
  const npm = [
    '#!/bin/sh -eu',
    'case "$1 $2" in',
    `"run models") shift 2; [ "\${1-}" != -- ] || shift; ${models} ;;`,
    `"install --prefix") mkdir -p "$3"; ln -sfn ${PACKAGES} "$3/node_modules" ;;`,
    '*) exit 127 ;;',
    'esac',
  ];
  writeFileSync(join(programs, 'npm'), `${npm.join('\n')}\n`);
  chmodSync(join(programs, 'npm'), 0o755);
  const env = {
    ...{ PATH: `${programs}:/usr/local/bin:/usr/bin:/bin`, NODE_COMPILE_CACHE: COMPILE_CACHE },
    PYTHONUNBUFFERED: '1',
    ...{ DATA_DIR: join(folder, 'data'), OLLAMA_HOST: DEAD },
  };
  const type = async (line: string) => {
    const child = spawn('sh', ['-euc', line], {
      ...{ cwd: folder, detached: true },
      env: { ...env, MODELS_DIR: modelsDir },
    });
    const output = outputOf(child);
    if (line.includes('http.server')) {
      onTestFinished(() => endGroup(child));
      await expect.poll(output, { timeout: 10_000 }).toContain('Serving HTTP');
      return output();
    }
    const [status] = await once(child, 'close');
    expect(status, output()).toBe(0);
    return output();
  };
  const change = () => {
    modelsDir = join(folder, 'of-another-machine');
    hub.files.clear();
  };
  return { type, change, modelsDir: () => modelsDir };
}

function outputOf(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  return () => text;
}

function endGroup({ pid, exitCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL');
}

/** Starts the server as `npm start` would, and ends it. @returns what `/readyz` says once the engine is loaded. */
async function start(machine: Machine, environment: Readonly<Record<string, string>>) {
  const server = await startServer({
    environment: { MODELS_DIR: machine.modelsDir(), OLLAMA_HOST: DEAD, ...environment },
  });
  onTestFinished(() => server.stop());
  await server.ready();
  const [name = ''] = Object.keys(environment);
  const readyz = async () => JSON.stringify((await server.api('GET', '/readyz')).body);
  await expect.poll(readyz, { timeout: 30_000 }).toContain(STATE_AFTER[name] ?? 'no such setting');
}

test('the pages have such blocks', () => {
  expect(SCRIPTS.length).toBeGreaterThan(5);
});

test.skipIf(!existsSync(PACKAGES)).each(SCRIPTS)('%s: %s', async (_, text) => {
  const machine = await startMachine();
  const port = String(await freePort());
  const lines = text
    .replaceAll(/\\\n\s*/g, '')
    .trim()
    .split('\n');
  // A mirror has what another command has downloaded.
  if (text.includes('http.server')) await machine.type('npm run models -- --no-self-test');

  const printed: string[] = [];
  for (const line of lines) {
    if (ANOTHER_MACHINE.test(line)) machine.change();
    if (line.startsWith('#')) continue;
    const typed = line.replace('10.0.0.5:8000', `127.0.0.1:${port}`).replace(' 8000 ', ` ${port} `);
    const { environment, text: command } = commandOf(typed);
    if (command === 'npm start') await start(machine, environment);
    else printed.push(await machine.type(typed));
  }

  const [last = ''] = printed.slice(-1);
  if (/^npm run models( -- --profile standard)?( +#.*)?$/.test(lines.at(-1) ?? '')) {
    expect(last).toMatch(/A real agent now answers: npm start\n$/);
  }
  if (lines.at(-1)?.includes('--check')) expect(last).toContain('ok  llm/tiny.gguf');
  if (ANOTHER_MACHINE.test(lines.at(-1) ?? '')) expect(last).toContain('ok  stt/whisper-tiny');
});
