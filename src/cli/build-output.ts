/** A built folder below `dist`: says whether its sources have changed, and replaces it as a whole. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** File with the hash of the sources, in the built folder. */
const MARK = '.sources';

const REASON_CHARS = 300;

const PLACE_TRIES_MAX = 5;

/** All files below a folder, sorted. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Hash over the names and contents of the files. */
export function hashOf(root: string, files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) {
    hash.update(`\0${relative(root, file)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

/** Hash of the sources that the folder was built from; undefined where it was not. */
export function builtHash(folder: string): string | undefined {
  const mark = join(folder, MARK);
  return existsSync(mark) ? readFileSync(mark, 'utf8') : undefined;
}

/**
 * Replaces the folder once `build` has written all of it: on a failure the previous folder stays.
 *
 * @param hash of the sources, kept for `builtHash`; undefined for a folder that counts as not built
 * @param build writes into the empty folder that it is given, which lies in the same place as the other one
 */
export async function replaceBuilt(
  folder: string,
  hash: string | undefined,
  build: (fresh: string) => Promise<void> | void,
): Promise<void> {
  // In the same folder, so that it can be renamed; two that build at once do not write into each other's files.
  const fresh = `${folder}-${process.pid}`;
  const old = `${fresh}-old`;
  mkdirSync(dirname(folder), { recursive: true });
  try {
    mkdirSync(fresh);
    await build(fresh);
    if (hash !== undefined) writeFileSync(join(fresh, MARK), hash);
    takePlace(folder, fresh, old);
  } finally {
    for (const left of [fresh, old]) rmSync(left, { recursive: true, force: true });
  }
}

/** Two builds at once disturb each other here; the next try finds the other one's result. */
function takePlace(folder: string, fresh: string, old: string): void {
  for (let tried = 1; ; tried += 1) {
    try {
      if (existsSync(folder)) renameSync(folder, old);
      renameSync(fresh, folder);
      return;
    } catch (error) {
      if (tried === PLACE_TRIES_MAX) throw error;
      rmSync(old, { recursive: true, force: true });
    }
  }
}

/** Extensions of files that compression makes shorter. */
const TEXTS: readonly string[] = ['.html', '.js', '.css', '.svg', '.json', '.txt'];

/** A tenth of the time of the highest level, for a twentieth more bytes. */
const BROTLI = { [constants.BROTLI_PARAM_QUALITY]: 9 };

/** Compresses each text of a built folder once, so that the server never does it during calls. */
export function packTexts(folder: string): void {
  for (const file of filesBelow(folder).filter((path) => TEXTS.includes(extname(path)))) {
    const bytes = readFileSync(file);
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: BROTLI }));
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

/** Reason in one line: a bundler tells a whole page, with the code where it stopped and in colour. */
export function buildFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, name] = /^Cannot find package '(vite|rolldown|@11ty\/eleventy)'/.exec(message) ?? [];
  if (name !== undefined) return `${name} is not installed (npm ci installs it)`;
  return stripVTControlCharacters(message).replaceAll(/\s+/g, ' ').trim().slice(0, REASON_CHARS);
}
