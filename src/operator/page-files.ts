/** Files of the dashboard, of `/docs` and of the manual, from the folders of their builds; serves only names that the builds made. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, extname, join, relative, sep } from 'node:path';

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

const INDEX: PageName = 'index.html';

const ASSETS = 'assets';

/** Bounds of the memory that the files may take. */
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

/** The pages that the build makes. */
type PageName = 'index.html' | 'docs.html';

/** The built pages and their assets; each file is read on its first request and then kept in memory. */
export class PageFiles {
  readonly #folder: string;
  #builtAtMs: number | undefined;
  readonly #files = new Map<string, PageFile>();
  #assetNames: ReadonlySet<string> = new Set();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A page of the newest build; undefined when nothing has been built. */
  page(name: PageName): PageFile | undefined {
    this.#refresh();
    return this.#builtAtMs === undefined ? undefined : this.#file(this.#folder, name);
  }

  /** @param name File name of an asset, without its folder. */
  asset(name: string): PageFile | undefined {
    if (this.#builtAtMs === undefined) this.#refresh();
    return this.#assetNames.has(name) ? this.#file(join(this.#folder, ASSETS), name) : undefined;
  }

  /** Forgets all files after another build. */
  #refresh(): void {
    const found = statSync(join(this.#folder, INDEX), { throwIfNoEntry: false });
    if (found?.mtimeMs === this.#builtAtMs) return;
    this.#files.clear();
    this.#assetNames = found === undefined ? new Set() : assetNames(join(this.#folder, ASSETS));
    this.#builtAtMs = found?.mtimeMs;
  }

  #file(folder: string, name: string): PageFile | undefined {
    const path = join(folder, name);
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
    const file = readPageFile(folder, name);
    this.#files.set(path, file);
    return file;
  }
}

function assetNames(folder: string): ReadonlySet<string> {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return new Set();
  const names = readdirSync(folder, { withFileTypes: true })
    // A link might lead out of the folder.
    .filter((entry) => entry.isFile() && extname(entry.name) in TYPES)
    .map(({ name }) => name);
  return new Set(names.slice(0, FILES_MAX));
}

/** Reads a file of a build with its packed forms. @throws {RangeError} when it is larger than any of a page's. */
function readPageFile(folder: string, name: string): PageFile {
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

/** Bound of the memory that the files may take. */
const MANUAL_FILES_MAX = 1000;

/** Kinds of files that the build makes: pages, their style, the search and its index. */
const MANUAL_TYPES = ['.html', '.css', '.js', '.json'];

const MANUAL_START: ManualFileName = 'index.html';

/** Path in the folder, with slashes: `reference/settings.html`. */
type ManualFileName = string;

/** The built manual; each file is read on its first request and then kept in memory. */
export class ManualFiles {
  readonly #folder: string;
  #builtAtMs: number | undefined;
  #names: ReadonlySet<ManualFileName> = new Set();
  readonly #files = new Map<ManualFileName, PageFile>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Whether there is a manual. */
  get isBuilt(): boolean {
    this.#refresh();
    return this.#builtAtMs !== undefined;
  }

  /** The start page for an empty name; undefined for what the build did not make. */
  file(name: ManualFileName): PageFile | undefined {
    this.#refresh();
    const wanted = name === '' ? MANUAL_START : name;
    if (!this.#names.has(wanted)) return undefined;
    const known = this.#files.get(wanted);
    if (known !== undefined) return known;
    const path = join(this.#folder, wanted);
    const file = readPageFile(dirname(path), relative(dirname(path), path));
    this.#files.set(wanted, file);
    return file;
  }

  /** Forgets all files after another build. */
  #refresh(): void {
    const found = statSync(join(this.#folder, MANUAL_START), { throwIfNoEntry: false });
    if (found?.mtimeMs === this.#builtAtMs) return;
    this.#files.clear();
    this.#names = found === undefined ? new Set() : namesBelow(this.#folder);
    this.#builtAtMs = found?.mtimeMs;
  }
}

function namesBelow(folder: string): ReadonlySet<ManualFileName> {
  const names = readdirSync(folder, { withFileTypes: true, recursive: true })
    // A link might lead out of the folder.
    .filter((entry) => entry.isFile() && MANUAL_TYPES.includes(extname(entry.name)))
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll(sep, '/'));
  return new Set(names.slice(0, MANUAL_FILES_MAX));
}
