/** Tries one mutant: plants the fault in a copy of the project and runs the tests that are nearest to it. */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Mutation, textWith } from './mutations.ts';

/** What became of a mutant. `timed out` counts as killed: a test that never ends is noticed. */
export type Fate = 'killed' | 'timed out' | 'survived';

/** A mutant and the tests that may see it, nearest first. */
export interface Mutant {
  readonly file: string;
  readonly mutation: Mutation;
  readonly tests: readonly string[];
}

/** What is copied; the modules are shared by a link. */
const COPIED = [
  'src',
  'test',
  'bench',
  'models',
  'examples',
  'docs',
  'sip-config',
  'observability',
];
const COPIED_FILES = ['package.json', 'tsconfig.json', 'vitest.config.ts', 'README.md'];

/** As many test files run first; most mutants die there. */
const FIRST_TESTS = 4;

/** Limit of one run of tests, in milliseconds. */
const RUN_MS_MAX = 300_000;

/** A copy of the project in a temporary folder in which faults are planted, one at a time. */
export class MutantTrial {
  readonly #root: string;
  readonly #copy: string;

  /** @param root The project; it is read only. */
  constructor(root: string) {
    this.#root = root;
    this.#copy = mkdtempSync(join(tmpdir(), 'offhook-mutants-'));
    for (const name of [...COPIED, ...COPIED_FILES]) {
      cpSync(join(root, name), join(this.#copy, name), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(this.#copy, 'node_modules'));
  }

  /** Plants the fault, runs the tests, and takes the fault out again. */
  async fateOf({ file, mutation, tests }: Mutant): Promise<Fate> {
    const path = join(this.#copy, file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, textWith(text, mutation));
    try {
      const first = await this.run(tests.slice(0, FIRST_TESTS));
      return first === 'survived' ? await this.run(tests.slice(FIRST_TESTS)) : first;
    } finally {
      writeFileSync(path, text);
    }
  }

  /**
   * Runs test files in the copy as it is now; stops at the first failure. No files: `survived`, and so without a fault
   * planted, unless a test fails on its own.
   */
  async run(tests: readonly string[], limitMs: number = RUN_MS_MAX): Promise<Fate> {
    if (tests.length === 0) return 'survived';
    const args = ['run', '--project', 'unit', '--bail=1', '--maxWorkers=1', ...tests];
    const child = spawn(join(this.#root, 'node_modules/.bin/vitest'), args, {
      cwd: this.#copy,
      stdio: 'ignore',
      detached: true,
    });
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        // The whole group: vitest has workers, and one of them may be in an endless loop.
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
        resolve('timed out');
      }, limitMs);
      child.on('error', reject);
      child.on('close', (code) => {
        clearTimeout(timer);
        resolve(code === 0 ? 'survived' : 'killed');
      });
    });
  }

  /** Removes the copy. */
  stop(): void {
    rmSync(this.#copy, { recursive: true, force: true });
  }
}
