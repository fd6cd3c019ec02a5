/** Builds the dashboard and the `/docs` page with Vite: at each start where their sources have changed, always with `--always`. */
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
import { extname, join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { InlineConfig } from 'vite';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = join(ROOT, 'src/dashboard');
const DIST = join(ROOT, 'dist');
const BUILT = join(DIST, 'dashboard');

/** File with the hash of the page's sources, in the page's folder. */
const MARK = '.sources';

const NO_VITE = 'Vite is not installed (npm ci installs it)';

const REASON_CHARS = 300;

/** What gets shorter by packing it. */
const TEXTS: readonly string[] = ['.html', '.js', '.css', '.svg', '.json', '.txt'];

/** Names every file and what is in it; undefined where there are no sources. */
function sourcesHash(): string | undefined {
  if (!existsSync(join(SOURCES, 'index.html'))) return undefined;
  const hash = createHash('sha256').update(readFileSync(import.meta.filename));
  for (const file of filesBelow(SOURCES)) {
    hash.update(`\0${relative(SOURCES, file)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function builtHash(): string | undefined {
  const mark = join(BUILT, MARK);
  return existsSync(mark) ? readFileSync(mark, 'utf8') : undefined;
}

/** Settings of Vite for the pages. */
const SETTINGS: InlineConfig = {
  configFile: false,
  root: SOURCES,
  logLevel: 'silent',
  // Relative, so that the page works below any path of a proxy.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // The page's own policy forbids what is written into it.
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Scalar's API reference is a chunk of 1.6 MB, which `/docs` alone loads.
    chunkSizeWarningLimit: 2000,
  },
};

async function build(hash: string): Promise<void> {
  const { build: bundle } = await import('vite');
  // Beside the place where it goes: two that build at once do not write into each other's files.
  const fresh = join(DIST, `.dashboard-${process.pid}`);
  const old = `${fresh}-old`;
  mkdirSync(DIST, { recursive: true });
  try {
    await bundle({
      ...SETTINGS,
      build: {
        ...SETTINGS.build,
        rolldownOptions: { input: pages() },
        outDir: fresh,
        emptyOutDir: true,
      },
    });
    pack(fresh);
    writeFileSync(join(fresh, MARK), hash);
    if (existsSync(BUILT)) renameSync(BUILT, old);
    renameSync(fresh, BUILT);
  } finally {
    for (const folder of [fresh, old]) rmSync(folder, { recursive: true, force: true });
  }
}

/** A tenth of the time of the highest level, for a twentieth more bytes. */
const BROTLI = { [constants.BROTLI_PARAM_QUALITY]: 9 };

function pages(): string[] {
  return readdirSync(SOURCES)
    .filter((name) => name.endsWith('.html'))
    .map((name) => join(SOURCES, name));
}

/** Compresses each text once, so that the server never does it during calls. */
function pack(folder: string): void {
  for (const file of filesBelow(folder).filter((path) => TEXTS.includes(extname(path)))) {
    const bytes = readFileSync(file);
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: BROTLI }));
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

/** Prints one line on failure: the server then starts without the page, or with the previous one. */
async function run(isAsked: boolean): Promise<string> {
  const hash = sourcesHash();
  const before = builtHash();
  const rest = before === undefined ? 'there is none' : 'the one built before is served';
  if (hash === undefined) return `Dashboard: no sources here; ${rest}`;
  if (hash === before && !isAsked) return 'Dashboard: built already';
  try {
    const startedMs = performance.now();
    await build(hash);
    return `Dashboard: built in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
  } catch (error) {
    process.exitCode = isAsked ? 1 : 0;
    return `Dashboard: not built: ${reasonOf(error)}; ${rest}`;
  }
}

/** Vite tells a whole page, with the code where it stopped and in colour. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (message.startsWith("Cannot find package 'vite'")) return NO_VITE;
  return stripVTControlCharacters(message).replaceAll(/\s+/g, ' ').trim().slice(0, REASON_CHARS);
}

const line = await run(process.argv.includes('--always'));
process.stdout.write(`${line}\n`);
