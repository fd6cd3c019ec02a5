/** Builds the dashboard and the `/docs` page with Vite: at each start where their sources have changed, always with `--always`. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { InlineConfig } from 'vite';
import {
  buildFailure,
  builtHash,
  filesBelow,
  hashOf,
  packTexts,
  replaceBuilt,
} from './build-output.ts';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = join(ROOT, 'src/dashboard');
/** Trunks that the page offers; where the folder is missing, the build names the file that it wants. */
const PRESETS = join(ROOT, 'sip-config/presets');
const BUILT = join(ROOT, 'dist/dashboard');

/** Undefined where there are no sources. */
function sourcesHash(): string | undefined {
  if (!existsSync(join(SOURCES, 'index.html'))) return undefined;
  const presets = existsSync(PRESETS) ? filesBelow(PRESETS) : [];
  return hashOf(ROOT, [import.meta.filename, ...filesBelow(SOURCES), ...presets]);
}

/** Settings of Vite for the pages. */
const SETTINGS: InlineConfig = {
  configFile: false,
  root: SOURCES,
  logLevel: 'silent',
  // Relative, so that the page works below any path of a proxy.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // The page's Content-Security-Policy forbids inline scripts and assets.
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Scalar's API reference is a chunk of 1.6 MB, which `/docs` alone loads.
    chunkSizeWarningLimit: 2000,
  },
};

async function build(fresh: string): Promise<void> {
  const { build: bundle } = await import('vite');
  await bundle({
    ...SETTINGS,
    build: {
      ...SETTINGS.build,
      rolldownOptions: { input: pages() },
      outDir: fresh,
      emptyOutDir: true,
    },
  });
  packTexts(fresh);
}

function pages(): string[] {
  return readdirSync(SOURCES)
    .filter((name) => name.endsWith('.html'))
    .map((name) => join(SOURCES, name));
}

/** Compressed size of the scripts and styles that `index.html` names, which a browser loads before it shows a page. */
function firstLoadKilobytes(): number {
  const page = readFileSync(join(BUILT, 'index.html'), 'utf8');
  const named = [...page.matchAll(/"\.\/(assets\/[^"]+\.(?:js|css))"/g)].map(
    ([, name]) => name ?? '',
  );
  const sizes = named.map((name) => statSync(join(BUILT, `${name}.gz`)).size);
  return Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / 1000);
}

/** Prints one line on failure: the server then starts without the page, or with the previous one. */
async function run(isAsked: boolean): Promise<string> {
  const hash = sourcesHash();
  const before = builtHash(BUILT);
  const rest = before === undefined ? 'there is none' : 'the one built before is served';
  if (hash === undefined) return `Dashboard: no sources here; ${rest}`;
  if (hash === before && !isAsked) return 'Dashboard: built already';
  try {
    const startedMs = performance.now();
    await replaceBuilt(BUILT, hash, build);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    return `Dashboard: built in ${seconds} s; first load ${firstLoadKilobytes()} KB gzipped`;
  } catch (error) {
    process.exitCode = isAsked ? 1 : 0;
    return `Dashboard: not built: ${buildFailure(error)}; ${rest}`;
  }
}

const line = await run(process.argv.includes('--always'));
process.stdout.write(`${line}\n`);
