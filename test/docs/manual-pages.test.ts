import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { manualParts } from '../../docs/tools/manual-pages.ts';

const PARTS = manualParts('.');
const PAGES = PARTS.flatMap(({ pages }) => pages);

test('docs/manual.json has every page of docs/, each once', () => {
  const named = PAGES.map(({ source }) => source).filter((source) => source.startsWith('docs/'));

  expect(named.toSorted()).toEqual(globSync('docs/**/*.md').toSorted());
});

test('manualParts gives every page a title and an address of its own', () => {
  const urls = new Set(PAGES.map(({ url }) => url));

  expect(urls.size).toBe(PAGES.length);
  expect(PAGES.filter(({ title }) => title === '')).toEqual([]);
});
