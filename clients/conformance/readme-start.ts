/** Runs the first program of a library's README against a real server. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TEST_KEY, type TestServer } from '../../test/support/server/server.ts';

const RUN_MS_MAX = 60_000;

export interface ReadmeStart {
  /** `clients/<folder>/README.md`. */
  readonly folder: string;
  /** Language of the fenced block. */
  readonly fence: string;
  /** Of a file with the program, such as `.ts`. */
  readonly extension: string;
  /** The program that runs the file. */
  readonly interpreter: string;
  /** What stands in the README, and what stands for it in this repository, such as the name of the package. */
  readonly replace: Readonly<Record<string, string>>;
}

/** @returns what the program prints. @throws {Error} when it fails, or the README has none. */
export async function runReadmeStart(start: ReadmeStart, server: TestServer): Promise<string> {
  const readme = readFileSync(join(import.meta.dirname, '..', start.folder, 'README.md'), 'utf8');
  const code = new RegExp(`\`\`\`${start.fence}\\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1];
  if (code === undefined) throw new Error(`${start.folder}/README.md has no ${start.fence} block`);
  const replaced = Object.entries({
    ...{ 'svc_test_…': TEST_KEY, 'http://localhost:3000': server.baseUrl },
    ...start.replace,
  }).reduce((text, [from, to]) => text.replaceAll(from, to), code);
  const folder = mkdtempSync(join(tmpdir(), 'offhook-readme-'));
  try {
    const file = join(folder, `start${start.extension}`);
    writeFileSync(file, replaced);
    const options = { timeout: RUN_MS_MAX };
    return (await promisify(execFile)(start.interpreter, [file], options)).stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
