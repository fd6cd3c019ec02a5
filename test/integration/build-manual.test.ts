/** `npm run docs`: the whole site, as Eleventy builds it from the pages of the repository. */
import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** What the build reads. */
const SOURCES = [
  'docs',
  'sip-config',
  'models/README.md',
  'clients/README.md',
  'examples/README.md',
  'observability/README.md',
  'package.json',
  'src/cli/build-output.ts',
];

function checkout({ hasPackages = true } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-manual-'));
  for (const path of SOURCES) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  if (hasPackages) symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

function build(cwd: string, ...words: string[]): Promise<readonly [number, string]> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['docs/tools/build-manual.ts', ...words],
      { cwd },
      (error, out, err) => resolve([Number(error?.code ?? 0), out + err]),
    );
  });
}

const pages = new Map<string, string>();
let first: readonly [number, string] = [1, ''];
let second: readonly [number, string] = [1, ''];

beforeAll(async () => {
  const folder = checkout();
  first = await build(folder);
  second = await build(folder);
  const built = join(folder, 'dist/manual');
  for (const name of globSync('**/*.{html,css,js,json}', { cwd: built })) {
    pages.set(name, readFileSync(join(built, name), 'utf8'));
  }
  rmSync(folder, { recursive: true, force: true });
});

test('build-manual builds every page of docs/ once', () => {
  const expected = globSync('docs/**/*.md', { cwd: ROOT }).map((source) =>
    source.replace(/^docs\//, '').replace(/\.md$/, '.html'),
  );

  expect(first).toEqual([0, expect.stringMatching(/^Manual: built in [\d.]+ s\n$/)]);
  expect(second).toEqual([0, 'Manual: built already\n']);
  expect(expected.length).toBeGreaterThan(50);
  expect(expected.filter((name) => !pages.has(name))).toEqual([]);
});

test('every link of the site leads to a page and an anchor that are there', () => {
  const links = [...pages].flatMap(([page, html]) =>
    [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, href = '']) => [page, href] as const),
  );
  const inner = links.filter(([, href]) => !/^(https?|mailto):/.test(href));

  const broken = inner.filter(([page, href]) => !isThere(page, href));

  expect(inner.length).toBeGreaterThan(3000);
  expect(broken).toEqual([]);
});

test('no page has a script but the search, an inline style or raw HTML of its source', () => {
  const search = /<script type="module" src="(\.\.\/)*search\.js"><\/script>/;
  const odd = [...pages].filter(([, html]) =>
    /<script|\sstyle=|\son\w+=|<iframe/i.test(html.replace(search, '')),
  );

  expect(odd.map(([page]) => page)).toEqual([]);
});

test('build-manual says in a line that Eleventy is not installed, and fails only where it was asked for', async () => {
  const folder = checkout({ hasPackages: false });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));

  const [atStart, asked] = [await build(folder), await build(folder, '--always')];

  const line =
    'Manual: not built: @11ty/eleventy is not installed (npm ci installs it); there is none\n';
  expect(atStart).toEqual([0, line]);
  expect(asked).toEqual([1, line]);
});

/** The two pages of the server that are no part of the manual. */
const SERVER_PAGES = ['../', '../docs'];

function isThere(page: string, href: string): boolean {
  const [path = '', fragment] = href.split('#');
  const target = path === '' ? page : posix.join(posix.dirname(page), path);
  if (SERVER_PAGES.includes(target)) return true;
  const html = pages.get(target);
  return html !== undefined && (fragment === undefined || html.includes(` id="${fragment}"`));
}
