/** Builds `dist/server`, the server in plain JavaScript: where its sources have changed, or `--always`, or only where it is `--missing`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { CodeSplittingGroup, Plugin } from 'rolldown';
import { buildFailure, builtHash, filesBelow, hashOf, replaceBuilt } from './build-output.ts';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = join(ROOT, 'src');

/** Code by which `models.ts` prepares models. */
const PREPARATION = join(ROOT, 'models/prepare');
const BUILT = join(ROOT, 'dist/server');

/** Programs that people and service managers start. */
const PROGRAMS = ['main.ts', 'cli/admin.ts', 'cli/models.ts', 'cli/health-check.ts'];

/**
 * Packages that are bundled: a start loads them, and they have many files. The others stay packages, because they are native,
 * find files of their own by their address, or are loaded by few servers.
 */
const BUILT_IN: ReadonlySet<string> = new Set([
  '@hono/node-server',
  '@hono/zod-openapi',
  '@opentelemetry/api',
  'commander',
  'drachtio-srf',
  'hono',
  'kysely',
  'pino',
  'prom-client',
  'sdp-transform',
  'sentiment',
  'zod',
]);

/** How our code names a module that a thread, a child process or an engine loads. */
const MODULE_ADDRESS = /new URL\(\s*'([^']+)\.ts',\s*import\.meta\.url,?\s*\)/g;

function sourceFiles(): string[] {
  const isOurs = (file: string) => !file.startsWith(join(SOURCES, 'dashboard/'));
  return filesBelow(SOURCES).filter(isOurs);
}

function sourcesHash(): string {
  const packages = join(ROOT, 'package-lock.json');
  return hashOf(ROOT, [packages, ...filesBelow(PREPARATION), ...sourceFiles()]);
}

/**
 * Source of each built file, by the built file's name without its ending.
 *
 * @throws {Error} when two have the same name.
 */
function entryPoints(): Record<string, string> {
  const entries: Record<string, string> = {};
  const files = [...PROGRAMS.map((file) => join(SOURCES, file)), ...addressedModules()];
  for (const file of files) {
    const name = basename(file, '.ts');
    if (entries[name] !== undefined && entries[name] !== file) {
      throw new Error(`"${entries[name]}" and "${file}" would both become "${name}.js"`);
    }
    entries[name] = file;
  }
  return entries;
}

function addressedModules(): string[] {
  return sourceFiles()
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const addresses = readFileSync(file, 'utf8').matchAll(MODULE_ADDRESS);
      return [...addresses].map(([, path = '']) => resolve(dirname(file), `${path}.ts`));
    });
}

/**
 * Keeps addresses correct in chunks, which all lie in one folder: the address of a module becomes that of its built file, all
 * others are still relative to the source, so that models, `package.json` and packages are found.
 */
const ADDRESSES: Plugin = {
  name: 'addresses',
  transform(code, id) {
    if (!id.startsWith(SOURCES) || !code.includes('import.meta.')) return null;
    const source = relative(BUILT, id);
    return code
      .split(MODULE_ADDRESS)
      .map((part, index) =>
        index % 2 === 1
          ? `new URL('./${basename(part)}.js', import.meta.url)`
          : part
              .replaceAll('import.meta.url', `new URL('${source}', import.meta.url).href`)
              .replaceAll('import.meta.dirname', `(import.meta.dirname + '/${dirname(source)}')`),
      )
      .join('');
  },
};

/** @param importer the file that names the package; packages that are built in bring their own along. */
function isOutside(name: string, importer = ''): boolean {
  if (!/^[@a-z]/.test(name) || relative(ROOT, importer).startsWith('node_modules')) return false;
  const [scope = '', inScope = ''] = name.split('/');
  return !BUILT_IN.has(name.startsWith('@') ? `${scope}/${inScope}` : scope);
}

/**
 * Every program, thread, child process and module that is loaded by its address becomes a file with its own name, such as
 * `main.js` or `hearing-thread.js`; what they share becomes chunks in the same folder. The main program shares none of them,
 * so that it can be few files: no process runs it together with another entry point.
 */
async function build(fresh: string): Promise<void> {
  const { main = MAIN, ...others } = entryPoints();
  await bundle(fresh, { main }, MAIN_CHUNKS);
  await bundle(fresh, others);
}

const MAIN = join(SOURCES, 'main.ts');

/**
 * Files of the main program until it is ready, in the order in which it imports them; each has the static imports that those
 * before it have not. `main.ts` waits for the other two, which import the first: it must stay outside.
 */
const MAIN_CHUNKS: readonly CodeSplittingGroup[] = [
  { name: 'start', priority: 3, tags: ['$initial'], test: (id) => id !== MAIN },
  { name: 'app-parts', priority: 2, test: (id) => id === join(SOURCES, 'compose/app-parts.ts') },
  { name: 'app', priority: 1, test: (id) => id === join(SOURCES, 'compose/app.ts') },
];

async function bundle(
  fresh: string,
  input: Record<string, string>,
  groups: readonly CodeSplittingGroup[] = [],
): Promise<void> {
  const { rolldown } = await import('rolldown');
  const bundled = await rolldown({
    cwd: ROOT,
    input,
    platform: 'node',
    external: isOutside,
    plugins: [ADDRESSES],
    logLevel: 'silent',
  });
  try {
    await bundled.write({
      dir: fresh,
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      codeSplitting: { groups: [...groups] },
      // Read by Node only with --enable-source-maps.
      sourcemap: true,
      keepNames: true,
    });
  } finally {
    await bundled.close();
  }
}

/**
 * Prints one line on failure: the server then runs from its sources.
 *
 * @param when `missing` keeps a build of other sources: a server that runs from it loads some of its parts later.
 */
async function run(when: 'always' | 'changed' | 'missing'): Promise<string> {
  const isAsked = when === 'always';
  if (!existsSync(join(SOURCES, 'main.ts'))) return 'Server: no sources here';
  if (when === 'missing' && builtHash(BUILT) !== undefined) return 'Server: built already';
  try {
    const hash = sourcesHash();
    if (hash === builtHash(BUILT) && !isAsked) return 'Server: built already';
    const startedMs = performance.now();
    await replaceBuilt(BUILT, hash, build);
    return `Server: built in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
  } catch (error) {
    process.exitCode = isAsked ? 1 : 0;
    return `Server: not built: ${buildFailure(error)}; ${await standIn()}`;
  }
}

/** Makes files that load the sources in place of a failed build, so that the same command starts them. */
async function standIn(): Promise<string> {
  try {
    await replaceBuilt(BUILT, undefined, (fresh) => {
      for (const file of PROGRAMS) {
        const source = relative(BUILT, join(SOURCES, file));
        writeFileSync(join(fresh, `${basename(file, '.ts')}.js`), `import '${source}';\n`);
      }
    });
    return 'it runs from its sources, which starts slower';
  } catch (error) {
    // This user may not write to the folder: only its owner's build can be used.
    if (existsSync(join(BUILT, 'main.js'))) return 'the one built before runs';
    process.exitCode = 1;
    return `there is none: ${buildFailure(error)}`;
  }
}

const whenNotAlways = process.argv.includes('--missing') ? 'missing' : 'changed';
const line = await run(process.argv.includes('--always') ? 'always' : whenNotAlways);
// Not to the output of the command that follows, which programs may read.
process.stderr.write(`${line}\n`);
