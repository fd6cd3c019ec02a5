/** The keys that secrets of the database are sealed with: of the settings, or of a file next to the database. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PRIVATE_FILE_MODE } from '../../lib/private-tree.ts';
import { KEY_BYTES, SecretBox } from '../../lib/secret-box.ts';

/** One key a line, in base64; the first seals. */
const KEY_FILE = 'secrets.key';

/** The file of a database's keys. */
export function keyFileOf(databaseFile: string): string {
  return join(dirname(databaseFile), KEY_FILE);
}

/**
 * The box of a database. Without a key in the settings, the file has one, and is made where it is missing.
 *
 * @param secretsKey `SECRETS_KEY`: 32 bytes in base64. Keys of the file open what was sealed before.
 * @throws {Error} when the file has a line that is no key, or cannot be read or made.
 */
export function openBox(databaseFile: string, secretsKey: string | undefined): SecretBox {
  const file = keyFileOf(databaseFile);
  if (secretsKey !== undefined) return new SecretBox([keyOf(secretsKey), ...readKeys(file)]);
  const [first, ...others] = readKeys(file);
  if (first !== undefined) return new SecretBox([first, ...others]);
  return new SecretBox([makeKey(file)]);
}

/** Makes the file; where another process was quicker, its key counts. */
function makeKey(file: string): Buffer {
  const made = randomBytes(KEY_BYTES);
  try {
    const text = `${made.toString('base64')}\n`;
    writeFileSync(file, text, { mode: PRIVATE_FILE_MODE, flush: true, flag: 'wx' });
    return made;
  } catch (error) {
    const [others] = readKeys(file);
    if (others === undefined) throw error;
    return others;
  }
}

/** The keys of a file; none when it is missing. @throws {Error} naming the line that is no key. */
export function readKeys(file: string): readonly Buffer[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const key = keyOf(line.trim());
    if (key.length === KEY_BYTES) return [key];
    throw new Error(`Cannot use "${file}": line ${index + 1} is not 32 bytes in base64`);
  });
}

/** Writes keys of a backup in front of those that are there, each once; without keys, nothing. */
export function addKeys(file: string, keys: readonly Buffer[]): void {
  if (keys.length === 0) return;
  const known = [...keys, ...readKeys(file)].map((key) => key.toString('base64'));
  const text = [...new Set(known)].map((key) => `${key}\n`).join('');
  writeFileSync(file, text, { mode: PRIVATE_FILE_MODE, flush: true });
}

function keyOf(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}
