/** Recognised words without controls and invisible characters. */
import { expect, test } from 'vitest';
import { visibleWords } from '../../src/speech/stt/decoding/visible-words.ts';

const heard = (text: string) => ({
  text,
  words: [{ text, confidence: 0.9 }],
  confidence: 0.9,
  language: 'en',
  noSpeechProbability: 0.1,
  audioMs: 2000,
});

test.each([
  [
    'marks that turn the writing round',
    'pay \u202E05\u202C euros \u2066now\u2069',
    'pay 05 euros now',
  ],
  ['marks of direction', '\u200Eyes\u200F \u061Cplease', 'yes please'],
  ['zero-width spaces', 'can\u200Bcel\uFEFF it\u2060', 'cancel it'],
  ['soft hyphens and tags', 'an\u00ADswer\u{E0041}\u{E007F}', 'answer'],
  ['C0 and C1 controls', 'one\u0000two\u009B31mthree\u0085four', 'one two 31mthree four'],
  ['breaks of lines', 'one\r\ntwo\u2028three', 'one two three'],
  ['half a surrogate pair', 'yes\uD800', 'yes\uFFFD'],
  ['joiners between Latin letters', 'ye\u200Ds \u200Cno', 'yes no'],
  ['repeated joiners', 'می\u200C\u200C\u200Cخواهم', 'می\u200Cخواهم'],
  ['nothing else than such marks', '\u202E\u200B\u2069 \u200D', ''],
])('visibleWords removes %s', (_, text, visible) => {
  expect(visibleWords(heard(text))).toEqual(heard(visible));
});

test.each([
  ['Persian', 'می\u200Cخواهم نوبت بگیرم.'],
  ['Hindi', 'क्\u200Dष और शर्\u200Dत'],
  ['Malayalam, at the end of a word', 'അവന്\u200D വന്നു'],
  ['Arabic', 'أريد موعداً يوم الإثنين'],
  ['Chinese', '我想预约星期一。'],
  ['German', 'Straße, bitte – um 10:30 Uhr'],
])('visibleWords keeps %s', (_, text) => {
  expect(visibleWords(heard(text))).toEqual(heard(text));
});
