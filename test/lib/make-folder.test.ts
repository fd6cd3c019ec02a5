import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFolder } from '../../src/lib/private-tree.ts';

let base: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'make-folder-test-'));
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

test('makeFolder makes a folder and those above it with the mode, and is content where it is there', () => {
  const folder = join(base, 'one', 'two');

  makeFolder(folder, 0o700);
  makeFolder(folder, 0o700);

  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(base, 'one')).mode & 0o777).toBe(0o700);
});

test.each(['file', 'file/below'])('makeFolder makes no folder at "%s", where a file is', (path) => {
  writeFileSync(join(base, 'file'), '');

  expect(() => makeFolder(join(base, path))).toThrow(/ENOTDIR.*file'/);
});

test.runIf(existsSync('/proc/self'))(
  'makeFolder gives up where the system makes no folders',
  () => {
    expect(() => makeFolder('/proc/nowhere/below')).toThrow(
      "ENOENT: no such file or directory, mkdir '/proc/nowhere'",
    );
  },
);
