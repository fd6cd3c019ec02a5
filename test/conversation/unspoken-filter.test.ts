/** Model text that is never read aloud. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { speakable } from '../../src/conversation/reply/clause-splitter.ts';
import { UnspokenFilter } from '../../src/conversation/reply/unspoken-filter.ts';

const filtered = (...chunks: string[]) => {
  const filter = new UnspokenFilter();
  return chunks.map((chunk) => filter.push(chunk)).join('');
};

test.each([
  ['{"name": "transfer_call", "arguments": {"destination": "sales"}}', ''],
  ['One moment.\n{"name": "end_call", "arguments": {}} Goodbye.', 'One moment.\n Goodbye.'],
  ['{"text": "a \\" } b"}Yes.', 'Yes.'],
  ['{"never": "closed', ''],
  ['[{"name": "end_call"}]', '[]'],
  ['Calling: { "name": "end_call" }', 'Calling: '],
  ['<tool_call>\n{"name": "end_call"}\n</tool_call>', '\n\n'],
  ['<tool_call>{"name": "end_call"}</tool_call>Bye.', 'Bye.'],
  ['Like this:\n```js\nconst a = { b: 1 };\n```\nThat is all.', 'Like this:\n\nThat is all.'],
  ['Use `npm start` now.', 'Use npm start now.'],
  ['We are <b>open</b> now.', 'We are open now.'],
  ['We open at nine.<br/>Do come.<p class="a">Bye.</p>', 'We open at nine.\nDo come.\nBye.\n'],
  ['<branch>Yes.', 'Yes.'],
  ['Write to <jo@example.com>.', 'Write to jo@example.com.'],
  ['See <https://example.com/a>.', 'See https://example.com/a.'],
])('UnspokenFilter of %j leaves %j', (text, expected) => {
  expect(speakableLines(filtered(text))).toBe(speakableLines(expected));
});

/** As the splitter does: lines are pieces of their own. */
function speakableLines(text: string): string {
  return text.split('\n').map(speakable).filter(Boolean).join('\n');
}

test.each([
  'Fewer than five, so 3 < 5 and 7 > 2.',
  'The name is {first}, I think.',
  'We are open from nine to five.\n\nDo come!',
])('UnspokenFilter leaves %j whole', (text) => {
  expect(filtered(text)).toBe(text);
});

test('UnspokenFilter gives the same however the text is cut', () => {
  const parts = ['{', '}', '"', '\\', '`', '```', '<', '>', '\n', ' ', 'a', 'Yes. ', '<b>'];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 40 }), (words) => {
      expect(filtered(...words)).toBe(filtered(words.join('')));
      expect(filtered(...words.join(''))).toBe(filtered(words.join('')));
    }),
  );
});

test('speakable reads the characters that HTML writes as names', () => {
  expect(speakable('Smith &amp; Sons say &quot;2 &lt; 3&quot;')).toBe('Smith & Sons say "2 < 3"');
});

test.each([
  ['| Monday | 9 to 5 |', 'Monday, 9 to 5.'],
  ['|---|:---:|', ''],
  ['| Closed. |', 'Closed.'],
  ['| Day | Hours', 'Day, Hours'],
  ['to 5 | Tuesday |', 'to 5, Tuesday.'],
])('speakable reads the table row %j as %j', (row, expected) => {
  expect(speakable(row)).toBe(expected);
});
