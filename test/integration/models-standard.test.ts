/**
 * `npm run models -- --profile standard` against a hub on this machine, with our tiny models: afterwards nothing is left to install.
 * npm is a double where llama.cpp is to be installed: it takes the packages from `models/llama-cpp`.
 */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../models/support/download-world.ts';
import type { ModelServer } from '../models/support/model-server.ts';
import { startTinyHub } from '../models/support/tiny-hub.ts';
import { startServer } from '../support/server/server.ts';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGES = join(ROOT, 'models/llama-cpp/node_modules');
const DEAD = 'http://127.0.0.1:9';

interface World {
  readonly hub: ModelServer;
  readonly modelsDir: string;
  run(
    environment?: NodeJS.ProcessEnv,
  ): Promise<{ status: number | null; output: string; errors: string }>;
}

/** @param npm what the double of npm does; its third argument is the folder. */
async function world(npm: string): Promise<World> {
  const { hub, writeList } = await startTinyHub();
  const folder = temporaryFolder();
  const modelsDir = join(folder, 'models');
  const manifest = join(folder, 'list.json');
  writeList(manifest);
  const programs = join(folder, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'npm'), `#!/bin/sh\necho "$*" > ${folder}/npm-words\n${npm}\n`);
  chmodSync(join(programs, 'npm'), 0o755);
  const run: World['run'] = (environment = {}) => {
    const words = ['--manifest', manifest, '--profile', 'standard'];
    const env = {
      ...{ MODELS_DIR: modelsDir, DATA_DIR: join(folder, 'data'), OLLAMA_HOST: DEAD },
      ...{ PATH: `${programs}:/usr/local/bin:/usr/bin:/bin`, ...environment },
    };
    const program = [join(ROOT, 'src/cli/models.ts'), ...words];
    const child = spawn(process.execPath, program, { cwd: folder, env });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (text) => {
      output += text;
    });
    child.stderr.on('data', (text) => {
      errors += text;
    });
    return new Promise((resolve) => {
      child.on('close', (status) => resolve({ status, output, errors }));
    });
  };
  return { hub, modelsDir, run };
}

/** @returns its address, and what was asked of it. */
async function ollamaWithTiny(): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === '/api/tags')
      response.end(JSON.stringify({ models: [{ name: 'tiny:1b' }] }));
    else response.writeHead(404).end('{"error":"not here"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('npm run models -- --profile standard', () => {
  test.skipIf(!existsSync(PACKAGES))(
    'leaves nothing to install where no Ollama answers, and the next start has a language model',
    async () => {
      const { run, hub, modelsDir } = await world(
        `mkdir -p "$3" && ln -s ${PACKAGES} "$3/node_modules"`,
      );

      const { status, output, errors } = await run();

      expect({ status, errors }, output).toEqual({ status: 0, errors: '' });
      expect(output).toContain('ok  llm/tiny.gguf');
      expect(output).toContain('ok  llama.cpp  installed');
      expect(output).toMatch(/OK {2}recogniser whisper-tiny/);
      expect(output).toMatch(/OK {2}language model llama-cpp\/tiny: first words after/);
      expect(output).toMatch(/A real agent now answers: npm start\n$/);
      expect(hub.seen.map(({ path }) => path)).not.toContain('/api/tags');

      const server = await startServer({
        environment: { MODELS_DIR: modelsDir, LLM: 'auto', OLLAMA_HOST: DEAD },
      });
      await server.ready();
      const isLoaded = async () => JSON.stringify((await server.api('GET', '/readyz')).body);
      await expect.poll(isLoaded, { timeout: 20_000 }).toContain('"engine":"llama-cpp/tiny"');
      await server.stop();
    },
  );

  test('leaves llama.cpp and its file out where an Ollama answers', async () => {
    const { run, modelsDir } = await world('exit 1');

    const { output } = await run({ OLLAMA_HOST: await ollamaWithTiny() });

    expect(output).toContain('ok  tiny:1b  was there');
    expect(output).not.toContain('tiny.gguf');
    expect(existsSync(join(modelsDir, 'llm'))).toBe(false);
  });

  test('says what npm said, and the command to run by hand, where llama.cpp cannot be installed', async () => {
    const { run, modelsDir } = await world('echo "npm error network no route" >&2; exit 1');

    const { status, errors } = await run();

    expect(status).toBe(75);
    expect(errors).toContain('npm error network no route; run "npm install --prefix ');
    expect(existsSync(join(modelsDir, 'llm/tiny.gguf'))).toBe(true);
  });

  test('ends with 1 where the language model is damaged in a way that its checksum does not show', async () => {
    const { run, modelsDir } = await world(
      'mkdir -p "$3/node_modules/node-llama-cpp/dist" && echo "throw new Error(\'no such build\')" > "$3/node_modules/node-llama-cpp/dist/index.js"',
    );

    const { status, output } = await run();

    expect(status, output).toBe(1);
    expect(output).toMatch(/FAILED {2}language model .*no such build/);
    expect(output).not.toContain('A real agent');
    expect(existsSync(join(modelsDir, 'llm/tiny.gguf'))).toBe(true);
  });
});
