/** The README is short, and its figures are those of the benches. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sectionOf } from '../support/server/documented-commands.ts';

const README = readFileSync('README.md', 'utf8');
const BENCHES = readFileSync('docs/benches.md', 'utf8').split('\n');
const LINES_MAX = 200;
const PICTURE_BYTES_MAX = 200_000;

/** Rows of the table of figures: what was measured, and by which bench. */
const FIGURES = [
  ...sectionOf(README, 'Figures').matchAll(/^\| [^|]+ \| ([^|]+) \| `([\w-]+)` \|$/gm),
].map(([, measured = '', bench = '']) => ({ measured, bench }));

test('the README is short, and has figures', () => {
  expect(README.split('\n').length).toBeLessThan(LINES_MAX);
  expect(FIGURES.length).toBeGreaterThan(5);
});

test.each(FIGURES)('the figures of $bench are those of docs/benches.md', ({ measured, bench }) => {
  const row = BENCHES.find((line) => line.startsWith(`| \`${bench}\` |`)) ?? '';
  const numbers = measured.match(/\d[\d.,]*\d|\d/g) ?? [];

  expect(existsSync(`bench/${bench}.ts`)).toBe(true);
  expect(numbers.length).toBeGreaterThan(0);
  expect(numbers.filter((number) => !row.includes(number))).toEqual([]);
});

test('every picture of the README is small enough to be loaded with it', () => {
  const pictures = [...README.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, path = '']) => path);

  expect(pictures.length).toBe(3);
  expect(pictures.filter((path) => statSync(path).size > PICTURE_BYTES_MAX)).toEqual([]);
});
