/** What of a text reaches espeak-ng. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  pauseAfterMs,
  SPOKEN_CHARACTERS_MAX,
  spokenText,
} from '../../src/speech/tts/pool/synthesizer.ts';

test.each([
  ['a plain sentence', 'Hello, how are you?', 'Hello, how are you?'],
  ['lines', 'One.\nTwo.\r\n\tThree.', 'One. Two. Three.'],
  ['control characters', 'He\u0001llo\u0000 \u0007you\u009b', 'He llo you'],
  ['phoneme escapes', "Say [[h@'loU]] now", "Say h@'loU now"],
  ['SSML', '<speak>Hello <break time="3s"/>you</speak>', 'Hello you'],
  ['a comparison', 'It is 3 < 4 and 5 > 2', 'It is 3 < 4 and 5 > 2'],
  ['Markdown', '**Hello** `code` # title', 'Hello code title'],
  ['emoji', 'Great 😀👩‍🚀🇮🇹 day 1️⃣', 'Great day 1'],
  ['shell characters', '$(reboot); `id` && rm -rf / | cat', '$(reboot); id && rm -rf / cat'],
  ['right-to-left marks', '\u202eabc\u202c \u200fשלום', 'abc שלום'],
  ['soft hyphens', 'appoint\u00adment', 'appointment'],
  ['joiners of Persian', 'می\u200cخواهم', 'می\u200cخواهم'],
  ['a lone surrogate', 'a\ud800b', 'a b'],
])('spokenText leaves what can be said of %s', (_, text, spoken) => {
  expect(spokenText(text)).toBe(spoken);
});

test.each([
  '',
  ' ',
  '...',
  '!?',
  '\u0000\u0001',
  '🎉',
  '<break/>',
  '[[]]',
  '- * -',
])('spokenText leaves nothing of "%s"', (text) => {
  expect(spokenText(text)).toBe('');
});

test('spokenText cuts a long text at a space', () => {
  const spoken = spokenText('word '.repeat(20_000));

  expect(spoken.length).toBeLessThanOrEqual(SPOKEN_CHARACTERS_MAX);
  expect(spoken.endsWith('word')).toBe(true);
});

test('spokenText lets nothing through that espeak-ng would take for a command', () => {
  const nasty = fc.string({
    unit: fc.oneof(
      fc.constantFrom('[', ']', '<', '>', '\u0001', '\n', 'a'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
  });

  fc.assert(
    fc.property(nasty, (text) => {
      const spoken = spokenText(text);
      expect(spoken).not.toMatch(/\[\[|\p{Cc}|\p{Cs}/u);
      expect(spoken.length).toBeLessThanOrEqual(SPOKEN_CHARACTERS_MAX);
      expect(spokenText(spoken)).toBe(spoken);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['We are open on Monday,', 60],
  ['We are open on Monday.', 160],
  ['Are you there?', 160],
])('pauseAfterMs leaves after "%s" a pause of %d ms', (text, pauseMs) => {
  expect(pauseAfterMs(text)).toBe(pauseMs);
});
