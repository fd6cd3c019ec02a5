/** `npm start -- --help` and a mistyped option, in a process: text, an exit status, and nothing that is opened or made. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

/** Settings with which a start would fail, or leave something behind. */
async function environment() {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-help-'));
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  onTestFinished(() => {
    taken.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    DATA_DIR: join(folder, 'data'),
    PORT: String((taken.address() as AddressInfo).port),
    SIP_PORT: 'not a port',
  };
}

function start(env: NodeJS.ProcessEnv, ...words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['src/main.ts', ...words], {
    ...{ cwd: ROOT, env, timeout: 60_000 },
  });
  return { status, out: stdout.toString(), err: stderr.toString() };
}

test.each(['--help', '-h'])('npm start -- %s prints help and starts nothing', async (word) => {
  const env = await environment();

  const { status, out, err } = start(env, word);

  expect([status, err]).toEqual([0, '']);
  expect(out).toContain('--print-config');
  expect(out).toContain('SIP_PORT');
  expect(existsSync(env.DATA_DIR)).toBe(false);
});

test('npm start with an unknown option says so, and starts nothing', async () => {
  const env = await environment();

  const { status, err } = start(env, '--hlep');

  expect(status).toBe(64);
  expect(err).toContain('"--hlep"');
  expect(existsSync(env.DATA_DIR)).toBe(false);
});
