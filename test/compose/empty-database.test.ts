import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { refuseEmptyDatabase } from '../../src/compose/data-folder.ts';
import { readConfig } from '../../src/config/config.ts';

/** A data folder with these files, by path and content. */
function configOf(files: Readonly<Record<string, string>>) {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'offhook-empty-'));
  onTestFinished(() => rmSync(DATA_DIR, { recursive: true, force: true }));
  mkdirSync(join(DATA_DIR, 'recordings'));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(DATA_DIR, path), text);
  return readConfig({ DATA_DIR });
}

test('refuseEmptyDatabase refuses an empty file where recordings exist, and says what to do', () => {
  const config = configOf({ 'offhook.db': '', 'recordings/call_1.wav': 'RIFF' });

  expect(() => refuseEmptyDatabase(config)).toThrow(
    /offhook\.db": it is empty, .* has 1 recordings .*npm run admin -- restore/,
  );
});

test.each([
  ['no file', {}],
  ['recordings but no file', { 'recordings/call_1.wav': 'RIFF' }],
  ['an empty file without recordings', { 'offhook.db': '' }],
  ['a database and recordings', { 'offhook.db': 'SQLite', 'recordings/call_1.wav': 'RIFF' }],
])('refuseEmptyDatabase lets a start with %s go on', (_case, files) => {
  expect(() => refuseEmptyDatabase(configOf(files))).not.toThrow();
});
