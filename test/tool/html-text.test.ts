/** The text of HTML pages: headings stay, scripts and navigation go, nothing hostile takes long. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { htmlText } from '../../src/tool/knowledge/document-text.ts';

const CHARS_MAX = 100_000;

test('headings are marked as in Markdown, and scripts, styles and navigation are left out', () => {
  const page = `<!doctype html><html><head><title>Shop</title><style>p { color: red }</style></head>
    <body><nav><a href="/">Home</a></nav><h1>Our <em>shop</em></h1><p>Tea &amp; coffee,<br>from
    nine.</p><h2>Prices</h2><table><tr><th>Tea</th><td>3 euros</td></tr></table>
    <ul><li>Cash<li>Card</ul><script>alert("words")</script><footer>Imprint</footer></body></html>`;

  expect(htmlText(page, CHARS_MAX)).toBe(
    '# Our shop\n\nTea & coffee,\nfrom nine.\n\n## Prices\n\nTea | 3 euros |\n\n- Cash\n- Card',
  );
});

test.each([
  ['an element that is open to the end', '<h1>Tea', '# Tea'],
  ['one script that is open to the end', '<p>Tea<script>x = 1', 'Tea'],
  ['closing tags alone', '</p></nav></script>Tea', 'Tea'],
  ['nothing', '', ''],
])('a page of %s is read', (_case, page, text) => {
  expect(htmlText(page, CHARS_MAX)).toBe(text);
});

test('a page that is nested a hundred thousand deep, or endless, is read quickly', () => {
  const startMs = performance.now();

  htmlText(`${'<div>'.repeat(100_000)}Tea`, CHARS_MAX);
  const long = htmlText('<p>word '.repeat(1_000_000), CHARS_MAX);

  expect(long.length).toBeLessThan(2 * CHARS_MAX);
  expect(performance.now() - startMs).toBeLessThan(5000);
});

test('any text is read without an error', () => {
  const piece = fc.constantFrom(
    '<p>',
    '</p>',
    '<script',
    '<!--',
    '-->',
    '<h1 a="',
    '&#x',
    ';',
    'a',
    '<![CDATA[',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 40 }), (pieces) => {
      expect(typeof htmlText(pieces.join(''), CHARS_MAX)).toBe('string');
    }),
  );
});
