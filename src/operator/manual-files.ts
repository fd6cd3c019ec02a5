/** Files of the manual, from the folder of its build; serves only names that the build made. */
import { readdirSync, statSync } from 'node:fs';
import { dirname, extname, join, relative, sep } from 'node:path';
import { type PageFile, readPageFile } from './page-files.ts';

/** Bound of the memory that the files may take. */
const FILES_MAX = 1000;

/** Kinds of files that the build makes: pages, their style, the search and its index. */
const TYPES = ['.html', '.css', '.js', '.json'];

const START: ManualFileName = 'index.html';

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
    const wanted = name === '' ? START : name;
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
    const found = statSync(join(this.#folder, START), { throwIfNoEntry: false });
    if (found?.mtimeMs === this.#builtAtMs) return;
    this.#files.clear();
    this.#names = found === undefined ? new Set() : namesBelow(this.#folder);
    this.#builtAtMs = found?.mtimeMs;
  }
}

function namesBelow(folder: string): ReadonlySet<ManualFileName> {
  const names = readdirSync(folder, { withFileTypes: true, recursive: true })
    // A link might lead out of the folder.
    .filter((entry) => entry.isFile() && TYPES.includes(extname(entry.name)))
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll(sep, '/'));
  return new Set(names.slice(0, FILES_MAX));
}
