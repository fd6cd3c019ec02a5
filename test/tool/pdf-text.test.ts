/** The text of PDFs: headings, paragraphs, parted words. */
import { expect, test } from 'vitest';
import { pdfText, textOfLines } from '../../src/tool/knowledge/document-text.ts';
import { buildPdf } from '../support/knowledge/build-pdf.ts';

const CHARS_MAX = 100_000;

const SAMPLE = buildPdf([
  [
    [18, 700, 'Opening hours'],
    [11, 670, 'We are open from nine in the mor-'],
    [11, 657, 'ning to five, \\(Monday to Friday\\).'.replaceAll('\\', '')],
    [11, 610, 'On holidays we are'],
  ],
  [[11, 700, 'closed.']],
]);

test('lines become paragraphs that go on over pages, and larger letters a heading', async () => {
  const text = await pdfText(new Uint8Array(SAMPLE), CHARS_MAX);

  expect(text).toBe(
    '## Opening hours\n\nWe are open from nine in the morning to five, (Monday to Friday).\n\nOn holidays we are\nclosed.',
  );
});

test('a long document is read until it has more characters than it may', async () => {
  const page = Array.from(
    { length: 50 },
    (_, line) => [10, 780 - 14 * line, 'word '.repeat(20)] as const,
  );

  const text = await pdfText(new Uint8Array(buildPdf(Array(100).fill(page))), 20_000);

  expect(text.length).toBeGreaterThan(20_000);
  expect(text.length).toBeLessThan(30_000);
});

test('dots between a title and its page number are left out', async () => {
  const pdf = buildPdf([[[11, 700, '1 Introduction . . . . . . . . . . 7']]]);

  expect(await pdfText(new Uint8Array(pdf), CHARS_MAX)).toBe('1 Introduction  7');
});

test('a page without text has none', async () => {
  expect(await pdfText(new Uint8Array(buildPdf([[]])), CHARS_MAX)).toBe('');
  expect(textOfLines([])).toBe('');
});
