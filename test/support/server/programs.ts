/** Tests that need a program of the operating system, and say so plainly where it is missing. */
import { spawnSync } from 'node:child_process';
import { describe, test } from 'vitest';

const found = new Map<string, boolean>();

/** Whether a program is on PATH. Does not run it. */
export function hasProgram(name: string): boolean {
  const known = found.get(name);
  if (known !== undefined) {
    return known;
  }
  const { status } = spawnSync('sh', ['-c', 'command -v "$1"', 'sh', name], { stdio: 'ignore' });
  found.set(name, status === 0);
  return status === 0;
}

/**
 * `describe`, where all the programs are installed; otherwise one skipped test, and a line on standard
 * error: `skipped: needs espeak-ng (NAME)`.
 */
export function describeWith(programs: readonly string[], name: string, body: () => void): void {
  describeWithout(
    programs.filter((program) => !hasProgram(program)),
    name,
    body,
  );
}

/** The same for anything else that a test needs, such as a library. @param missing empty where all is there */
export function describeWithout(missing: readonly string[], name: string, body: () => void): void {
  if (missing.length === 0) {
    describe(name, body);
    return;
  }
  const note = `skipped: needs ${missing.join(' and ')}`;
  process.stderr.write(`${note} (${name})\n`);
  describe(name, () => {
    test(note, ({ skip }) => skip(note));
  });
}
