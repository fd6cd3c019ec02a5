/** The page's files, read whole from the folder that they were built into: what is not there by name is not served. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';

export type Encoding = 'br' | 'gzip';

/** One form of a file, as it is sent. */
export interface PageBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Strong: of these bytes. */
  readonly etag: string;
}

export interface PageFile {
  /** `Content-Type`. */
  readonly type: string;
  readonly plain: PageBody;
  readonly encoded: Readonly<Partial<Record<Encoding, PageBody>>>;
}

const INDEX = 'index.html';

const ASSETS = 'assets';

/** What the server holds in memory; a page that is larger than that is none of ours. */
const FILES_MAX = 500;
const FILE_BYTES_MAX = 8 * 1024 * 1024;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.wav': 'audio/wav',
  '.mp3': 'audio/mpeg',
  '.txt': 'text/plain; charset=utf-8',
};

const ENCODED_NAMES: readonly (readonly [Encoding, string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

export class PageFiles {
  readonly #folder: string;
  #builtAtMs: number | undefined;
  #index: PageFile | undefined;
  #assets: ReadonlyMap<string, PageFile> = new Map();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The page itself, as it was built last; undefined where it has not been built. */
  index(): PageFile | undefined {
    this.#refresh();
    return this.#index;
  }

  /** @param name of a file that the page names, without its folder. */
  asset(name: string): PageFile | undefined {
    if (this.#builtAtMs === undefined) this.#refresh();
    return this.#assets.get(name);
  }

  /** Reads everything again after another build. */
  #refresh(): void {
    const found = statSync(join(this.#folder, INDEX), { throwIfNoEntry: false });
    if (found?.mtimeMs === this.#builtAtMs) return;
    this.#index = found === undefined ? undefined : readFile(this.#folder, INDEX);
    this.#assets = found === undefined ? new Map() : readFolder(join(this.#folder, ASSETS));
    // Last: what could not be read, such as in the middle of a build, is tried again.
    this.#builtAtMs = found?.mtimeMs;
  }
}

function readFolder(folder: string): ReadonlyMap<string, PageFile> {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return new Map();
  const names = readdirSync(folder, { withFileTypes: true })
    // No link: it might lead out of the folder.
    .filter((entry) => entry.isFile() && extname(entry.name) in TYPES)
    .map(({ name }) => name);
  return new Map(names.slice(0, FILES_MAX).map((name) => [name, readFile(folder, name)]));
}

function readFile(folder: string, name: string): PageFile {
  const encoded = ENCODED_NAMES.flatMap(([encoding, ending]) => {
    const path = join(folder, `${name}${ending}`);
    const isThere = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
    return isThere ? [[encoding, readBody(path)] as const] : [];
  });
  return {
    type: TYPES[extname(name)] ?? 'application/octet-stream',
    plain: readBody(join(folder, name)),
    encoded: Object.fromEntries(encoded),
  };
}

/** @throws {RangeError} when the file is larger than any of the page's. */
function readBody(path: string): PageBody {
  const bytes = readFileSync(path);
  if (bytes.length > FILE_BYTES_MAX) throw new RangeError(`Cannot serve "${path}": too large`);
  const sum = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { bytes: new Uint8Array(bytes), etag: `"${sum}"` };
}
