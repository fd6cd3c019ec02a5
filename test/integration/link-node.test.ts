/** The first step of `npm start` where npm has not linked the Node that it installed. */
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../src/cli/link-node.sh');

/** Programs that `/bin/sh` needs from a PATH, next to a `node` of the machine. */
const SYSTEM_PATH = '/usr/bin:/bin';

interface Checkout {
  /** The version of the Node that an npm script would run. */
  run(): Promise<{ readonly status: number; readonly node: string; readonly errors: string }>;
}

function writeProgram(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
}

function checkout(machineVersion: string, brought: readonly string[]): Checkout {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-link-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(SCRIPT, join(folder, 'src/cli/link-node.sh'));
  writeProgram(join(folder, 'machine/node'), `echo ${machineVersion}`);
  for (const name of brought) {
    writeProgram(join(folder, 'node_modules', name, 'bin/node'), 'echo v24.21.0');
  }
  const path = [join(folder, 'node_modules/.bin'), join(folder, 'machine'), SYSTEM_PATH].join(':');
  const run: Checkout['run'] = () =>
    new Promise((resolve) => {
      const options = { cwd: folder, env: { PATH: path } };
      const command = 'sh src/cli/link-node.sh && node --version';
      execFile('/bin/sh', ['-c', command], options, (error, node, errors) => {
        resolve({ status: Number(error?.code ?? 0), node: node.trim(), errors });
      });
    });
  return { run };
}

const processors = process.arch === 'arm64' ? ['arm64', 'x64'] : ['x64', 'arm64'];
const [fitting, other] = processors.map((name) => `node-linux-${name}`) as [string, string];

test('link-node makes the Node of npm ci the one that scripts run, also the second time', async () => {
  const { run } = checkout('v18.20.4', [fitting]);

  const outcomes = [await run(), await run()];

  expect(outcomes).toEqual([
    { status: 0, node: 'v24.21.0', errors: '' },
    { status: 0, node: 'v24.21.0', errors: '' },
  ]);
});

test("link-node leaves a machine's own Node 24 in its place where npm brought none", async () => {
  const { run } = checkout('v24.1.0', [other]);

  expect(await run()).toEqual({ status: 0, node: 'v24.1.0', errors: '' });
});

test('link-node says what to do where there is only an older Node', async () => {
  const { run } = checkout('v18.20.4', [other]);

  expect(await run()).toEqual({
    status: 1,
    node: '',
    errors:
      'Offhook needs Node 24; here is Node 18. On Linux (x64, arm64) "npm ci" brings it; elsewhere install it from nodejs.org.\n',
  });
});
