/** Runs the operator's commands as an operator does: as a process, on a data folder. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMPILE_CACHE } from './compile-cache.ts';
import { buildServer } from './server.ts';

const ROOT = join(import.meta.dirname, '../../..');

export interface AdminEnded {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** @param environment Settings, besides the data folder. */
export async function adminIn(
  dataDir: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<AdminEnded> {
  await buildServer();
  const child = spawn(join(ROOT, 'node_modules/.bin/node'), ['dist/server/admin.js', ...words], {
    cwd: ROOT,
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      DATA_DIR: dataDir,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const [status] = await once(child, 'close');
  return { status, out, err };
}

/** Runs a command with `--json`. @throws {Error} when it does not end with 0. */
export async function adminJson(
  dataDir: string,
  words: readonly string[],
): Promise<Record<string, unknown>> {
  const { status, out, err } = await adminIn(dataDir, [...words, '--json']);
  if (status !== 0) throw new Error(`"${words.join(' ')}" ended with ${status}: ${err}`);
  return JSON.parse(out);
}

/** Folders that go away together. */
export class AdminFolders {
  readonly #paths: string[] = [];

  make(): string {
    const path = mkdtempSync(join(tmpdir(), 'offhook-admin-'));
    this.#paths.push(path);
    return path;
  }

  remove(): void {
    for (const path of this.#paths) rmSync(path, { recursive: true, force: true });
  }
}
