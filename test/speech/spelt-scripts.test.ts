/** Words that espeak-ng would read out as letters. */
import { expect, test } from 'vitest';
import { withoutSpeltScripts } from '../../src/speech/tts/pool/spelt-scripts.ts';

test.each([
  [
    'gmw/en-US+f3',
    'Our shop is called 北京饭店, in the centre.',
    'Our shop is called, in the centre.',
  ],
  ['gmw/en-US', 'مرحبا، كيف حالك؟', ''],
  ['gmw/de', 'Das heißt Привет auf Russisch.', 'Das heißt auf Russisch.'],
  ['cmn', 'Привет 你好', '你好'],
  ['de', 'שלום สวัสดี こんにちは', ''],
])('withoutSpeltScripts of the voice %s leaves of %j: %j', (voice, text, left) => {
  expect(withoutSpeltScripts(text, voice)).toBe(left);
});

test.each([
  ['sem/ar', 'مرحبا، كيف حالك؟'],
  ['ir/fa', 'سلام، حال شما چطور است؟'],
  ['sit/cmn', '你好，我们九点开门。'],
  ['jpx/ja', 'はい、カタカナと漢字です。'],
  ['zle/ru', 'Привет, как дела?'],
  ['gmw/en-US', 'The angle α is 30°, nämlich.'],
  ['gmw/en-US', 'नमस्ते, 안녕'],
])('withoutSpeltScripts of the voice %s leaves %j as it is', (voice, text) => {
  expect(withoutSpeltScripts(text, voice)).toBe(text);
});
