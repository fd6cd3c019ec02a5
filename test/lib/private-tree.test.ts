import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tighten, tightenTree } from '../../src/lib/private-tree.ts';
import { testFolder } from '../support/store/test-store.ts';

const modeOf = (path: string) => statSync(path).mode & 0o777;

/** A file with a mode, whatever the umask of this process. */
function fileWith(path: string, mode: number): string {
  writeFileSync(path, 'x');
  chmodSync(path, mode);
  return path;
}

function folderWith(path: string, mode: number): string {
  mkdirSync(path);
  chmodSync(path, mode);
  return path;
}

test('tightenTree leaves a folder and all that it holds to its owner, and counts what it changed', async () => {
  const folder = folderWith(join(testFolder(), 'data'), 0o755);
  const recordings = folderWith(join(folder, 'recordings'), 0o755);
  const sound = fileWith(join(recordings, 'call.wav'), 0o644);
  const program = fileWith(join(folder, 'hook.sh'), 0o755);
  const secret = fileWith(join(folder, 'offhook.db'), 0o600);

  const counts = await tightenTree(folder);

  expect([folder, recordings, sound, program, secret].map(modeOf)).toEqual([
    0o700, 0o700, 0o600, 0o700, 0o600,
  ]);
  expect(counts).toEqual({ tightened: 4, refused: 0 });
  expect(await tightenTree(folder)).toEqual({ tightened: 0, refused: 0 });
});

test('tightenTree leaves what a symbolic link points to as it is', async () => {
  const folder = testFolder();
  const elsewhere = fileWith(join(testFolder(), 'shared'), 0o644);
  symlinkSync(elsewhere, join(folder, 'link'));

  const counts = await tightenTree(folder);

  expect(modeOf(elsewhere)).toBe(0o644);
  expect(counts).toEqual({ tightened: 0, refused: 0 });
});

test('tightenTree keeps the bits that are not about access, such as set-group-ID', async () => {
  const folder = folderWith(join(testFolder(), 'data'), 0o2770);

  await tightenTree(folder);

  expect(statSync(folder).mode & 0o7777).toBe(0o2700);
});

test('tighten changes one file, and passes over one that is not there', () => {
  const file = fileWith(join(testFolder(), 'offhook.db'), 0o644);

  tighten(file);
  tighten(`${file}-wal`);

  expect(modeOf(file)).toBe(0o600);
});
