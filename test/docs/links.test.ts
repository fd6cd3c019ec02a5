/** Links between the Markdown pages of the repository: each leads to a file, and to a heading of it, that are there. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { headingAnchor } from '../../docs/tools/manual-links.ts';

const PAGES = [
  '*.md',
  'docs/**/*.md',
  'sip-config/*.md',
  'clients/**/*.md',
  'examples/**/*.md',
  'models/*.md',
  'observability/*.md',
];

interface Link {
  readonly page: string;
  readonly href: string;
}

/** Code is no Markdown. */
function proseOf(page: string): string {
  return readFileSync(page, 'utf8')
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, '');
}

function linksOf(page: string): readonly Link[] {
  return [...proseOf(page).matchAll(/(?:\]\(|(?:src|srcset|href)=")([^)"\s]+)[)"]/g)]
    .map(([, href = '']) => ({ page, href }))
    .filter(({ href }) => !/^[a-z]+:/.test(href));
}

function isThere({ page, href }: Link): boolean {
  const [path = '', fragment] = href.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(target)) return false;
  if (fragment === undefined) return true;
  const text = readFileSync(target, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return headings.some((heading) => headingAnchor(heading) === fragment);
}

test('every link between pages leads to a file and a heading that are there', () => {
  const links = PAGES.flatMap((pattern) => globSync(pattern)).flatMap(linksOf);

  expect(links.length).toBeGreaterThan(150);
  expect(links.filter((link) => !isThere(link))).toEqual([]);
});
