import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { makeDataFolders, startTightening } from '../../src/compose/data-folder.ts';
import { readConfig } from '../../src/config/config.ts';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
import { testFolder } from '../support/store/test-store.ts';

const modeOf = (path: string) => statSync(path).mode & 0o777;

/** A folder or file with a mode, whatever the umask of this process. */
function open(path: string, kind: 'folder' | 'file'): string {
  if (kind === 'folder') mkdirSync(path);
  else writeFileSync(path, 'x');
  chmodSync(path, kind === 'folder' ? 0o755 : 0o644);
  return path;
}

/** A log that keeps its lines. */
function keptLog() {
  const lines: object[] = [];
  const log: Logger = { ...silentLogger, info: (fields) => lines.push(fields) };
  return { log, lines };
}

test('makeDataFolders makes data folder and recordings for their owner only', () => {
  const folder = join(testFolder(), 'data');

  makeDataFolders(readConfig({ DATA_DIR: folder }));

  expect([folder, join(folder, 'recordings')].map(modeOf)).toEqual([0o700, 0o700]);
});

test('startTightening takes the access of others to the data folder away, and logs one line', async () => {
  const folder = open(join(testFolder(), 'data'), 'folder');
  const recordings = open(join(folder, 'recordings'), 'folder');
  const sound = open(join(recordings, 'call_1.wav'), 'file');
  const { log, lines } = keptLog();

  const stop = startTightening({ config: readConfig({ DATA_DIR: folder }), log });
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  stop();

  expect([folder, recordings, sound].map(modeOf)).toEqual([0o700, 0o700, 0o600]);
  expect(lines).toEqual([{ folder, tightened: 3 }]);
});

test('startTightening follows a folder of recordings that lies on another disk', async () => {
  const folder = testFolder();
  const elsewhere = open(join(testFolder(), 'big'), 'folder');
  symlinkSync(elsewhere, join(folder, 'recordings'));
  const sound = open(join(elsewhere, 'call_1.wav'), 'file');
  const { log } = keptLog();

  const stop = startTightening({ config: readConfig({ DATA_DIR: folder }), log });
  await vi.waitFor(() => expect(modeOf(sound)).toBe(0o600));
  stop();

  expect(modeOf(elsewhere)).toBe(0o700);
});
