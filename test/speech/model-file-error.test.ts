/** Messages for unusable model files, from the errors of ONNX Runtime. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openSession } from '../../src/lib/onnx/onnx-session.ts';

const folder = mkdtempSync(join(tmpdir(), 'offhook-model-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['an empty file', (path: string) => writeFileSync(path, ''), 'the file is damaged'],
  ['a page in its place', (path: string) => writeFileSync(path, '<html>'), 'the file is damaged'],
  ['a folder in its place', (path: string) => mkdirSync(path), 'it is a folder, not a file'],
  ['nothing', () => undefined, 'there is no such file'],
])('openSession says of %s in plain words why it cannot be used', async (name, put, reason) => {
  const path = join(folder, `${name}.onnx`);
  put(path);

  await expect(openSession({ model: 'voice detector', path, threads: 1 })).rejects.toThrow(
    `Cannot load the voice detector "${path}": ${reason}; put a whole copy there, or remove it`,
  );
});
