/** `npm run build` and what `npm start` does before: on a small page of its own, with the real Vite. */
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

interface Checkout {
  readonly folder: string;
  /** Runs the build; resolves with its status and what it printed. */
  run(...words: string[]): Promise<readonly [number, string]>;
  write(file: string, text: string): void;
}

/** A folder with the build and a page of one component; without packages where Vite is to be missing. */
function checkout({ hasPackages = true } = {}): Checkout {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-build-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const page = join(folder, 'src/dashboard');
  mkdirSync(page, { recursive: true });
  for (const file of ['src/cli/build-dashboard.ts', 'src/cli/build-output.ts']) {
    cpSync(join(ROOT, file), join(folder, file));
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  if (hasPackages) symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const write = (file: string, text: string) => writeFileSync(join(page, file), text);
  write('index.html', '<!doctype html><script type="module" src="./main.tsx"></script>');
  write('style.css', 'p { color: red }');
  write('main.tsx', `import { render } from 'preact';\nimport './style.css';\n${component('one')}`);
  const run = (...words: string[]) => runNode(folder, words);
  return { folder, run, write };
}

function component(text: string): string {
  return `render(<p>${text}</p>, document.body);\n`;
}

function runNode(cwd: string, words: readonly string[]): Promise<readonly [number, string]> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['src/cli/build-dashboard.ts', ...words],
      { cwd },
      (error, out, err) => resolve([Number(error?.code ?? 0), out + err]),
    );
  });
}

test('build-dashboard builds once, packs what it built, and again when a source has changed', async () => {
  const { folder, run, write } = checkout();
  const assets = join(folder, 'dist/dashboard/assets');

  const first = await run();
  const script = readdirSync(assets).find((name) => name.endsWith('.js')) ?? '';
  const second = await run();
  write('main.tsx', `import { render } from 'preact';\n${component('two')}`);
  const third = await run();

  expect(first).toEqual([
    0,
    expect.stringMatching(/^Dashboard: built in [\d.]+ s; first load \d+ KB gzipped\n$/),
  ]);
  expect(second).toEqual([0, 'Dashboard: built already\n']);
  expect(third[1]).toContain('built in');
  expect(readdirSync(join(folder, 'dist'))).toEqual(['dashboard']);
  expect(existsSync(join(assets, script))).toBe(false);
  const [newScript = ''] = readdirSync(assets).filter((name) => name.endsWith('.js'));
  const text = readFileSync(join(assets, newScript), 'utf8');
  expect(text).toContain('two');
  expect(brotliDecompressSync(readFileSync(join(assets, `${newScript}.br`))).toString()).toBe(text);
  const page = readFileSync(join(folder, 'dist/dashboard/index.html'), 'utf8');
  expect(page).toContain(`src="./assets/${newScript}"`);
});

test('build-dashboard keeps the page before when the sources are broken, and fails only where it was asked', async () => {
  const { folder, run, write } = checkout();
  await run();
  write('main.tsx', `import './nothing.ts';\n`);

  const atStart = await run();
  const asked = await run('--always');

  const line = /^Dashboard: not built: .*nothing\.ts.*; the one built before is served\n$/;
  expect(atStart).toEqual([0, expect.stringMatching(line)]);
  expect(asked).toEqual([1, expect.stringMatching(line)]);
  expect(readdirSync(join(folder, 'dist'))).toEqual(['dashboard']);
  expect(existsSync(join(folder, 'dist/dashboard/index.html'))).toBe(true);
});

test('build-dashboard says what is missing, and does not hold up the start', async () => {
  const withoutVite = checkout({ hasPackages: false });
  const withoutSources = checkout();
  rmSync(join(withoutSources.folder, 'src/dashboard'), { recursive: true });

  const outcomes = [await withoutVite.run(), await withoutSources.run()];

  expect(outcomes).toEqual([
    [0, 'Dashboard: not built: vite is not installed (npm ci installs it); there is none\n'],
    [0, 'Dashboard: no sources here; there is none\n'],
  ]);
});
