/** Builds the benchmarks' small C programs if a compiler is installed. */
import { execFileSync, type SpawnSyncReturns } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Compiles `bench/tools/<name>.c`.
 *
 * @returns the program's path; undefined, and says so, when there is no gcc.
 */
export function buildNativeTool(name: string): string | undefined {
  const source = fileURLToPath(new URL(`../tools/${name}.c`, import.meta.url));
  const program = join(mkdtempSync(join(tmpdir(), 'bench-')), name);
  try {
    execFileSync('gcc', ['-O2', '-o', program, source, '-lm'], { stdio: 'pipe' });
    return program;
  } catch (error) {
    const { stderr } = error as Partial<SpawnSyncReturns<Buffer>>;
    console.log(`peer missing: cannot build "${name}.c": ${stderr?.toString() || 'no gcc here'}`);
    return undefined;
  }
}

/** Whether a program of the system can be run. */
export function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
