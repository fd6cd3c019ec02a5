/** Which espeak-ng voice stands for the voice that an agent names. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { chooseEspeakVoice } from '../../src/speech/tts/espeak/espeak-voice.ts';
import { loadVoiceBook } from '../../src/speech/tts/voices/voice-book.ts';

const book = await loadVoiceBook();
const femaleVariants = book.espeak.variants.female.map((variant) => variant.name);
const maleVariants = book.espeak.variants.male.map((variant) => variant.name);

function choose(voice: string, language: string) {
  const choice = chooseEspeakVoice({ voice, language }, book);
  const [file, variant] = choice.voice.name.split('+');
  return { file, variant, hasLanguage: choice.hasLanguage, gainDb: choice.voice.gainDb };
}

test.each([
  ['en-US-JennyNeural', 'en-US', 'gmw/en-US'],
  ['en-US-JennyNeural', 'en', 'gmw/en-US'],
  ['en-US-JennyNeural', '', 'gmw/en-US'],
  ['en-GB-SoniaNeural', 'en-US', 'gmw/en'],
  ['es-MX-DaliaNeural', 'es-MX', 'roa/es-419'],
  ['en-US-JennyNeural', 'es-mx', 'roa/es-419'],
  ['en-US-JennyNeural', 'de-DE', 'gmw/de'],
  ['nonsense', 'pt-BR', 'roa/pt-BR'],
  ['zh-CN-XiaoxiaoNeural', 'zh-CN', 'sit/cmn'],
])('chooseEspeakVoice reads "%s" in "%s" with %s', (voice, language, file) => {
  expect(choose(voice, language)).toMatchObject({ file, hasLanguage: true });
});

test.each([
  'xx-XX',
  'tlh',
  'constructor',
  '__proto__',
  'en;rm -rf',
  '../../etc',
])('chooseEspeakVoice lets English stand in for the language "%s"', (language) => {
  expect(choose('nonsense', language)).toMatchObject({ file: 'gmw/en-US', hasLanguage: false });
});

test('chooseEspeakVoice gives women and men variants of their own', () => {
  const jenny = choose('en-US-JennyNeural', 'en-US');
  const guy = choose('en-US-GuyNeural', 'en-US');

  expect(femaleVariants).toContain(jenny.variant);
  expect(maleVariants).toContain(guy.variant);
});

test('chooseEspeakVoice always gives a name the same variant, in every language', () => {
  const variants = ['en-US', 'es-ES', 'de-DE', 'en-US'].map(
    (language) => choose('en-US-AriaNeural', language).variant,
  );

  expect(new Set(variants).size).toBe(1);
});

test('chooseEspeakVoice spreads unknown names over all variants', () => {
  const names = Array.from({ length: 200 }, (_, n) => `voice number ${n}`);
  const variants = new Set(names.map((name) => choose(name, 'en').variant));

  expect(variants.size).toBe(femaleVariants.length + maleVariants.length);
});

test('chooseEspeakVoice hands on the gain of the variant', () => {
  const { variant, gainDb } = choose('en-US-GuyNeural', 'en-US');

  const listed = book.espeak.variants.male.find(({ name }) => name === variant);
  expect(gainDb).toBe(listed?.gainDb);
});

test('loadVoiceBook names the file that is damaged, and what is wrong with it', async () => {
  const file = new URL('../../models/tiny/whisper/config.json', import.meta.url);
  expect(readFileSync(file, 'utf8')).toContain('{');

  await expect(loadVoiceBook(file)).rejects.toThrow(
    /Cannot load the voices from ".*config.json": .*names/s,
  );
});
