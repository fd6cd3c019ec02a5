/** How the names of voices are read. */
import { expect, test } from 'vitest';
import { parseVoiceName } from '../../src/speech/tts/voices/voice-ids.ts';

test.each([
  ['en-US-JennyNeural', { locale: 'en-US', language: 'en', speaker: 'Jenny' }],
  ['en-us-JennyNeural', { locale: 'en-US', language: 'en', speaker: 'Jenny' }],
  ['es-419-AnaNeural', { locale: 'es-419', language: 'es', speaker: 'Ana' }],
  ['fil-PH-BlessicaNeural', { locale: 'fil-PH', language: 'fil', speaker: 'Blessica' }],
  ['sr-Latn-RS-NicholasNeural', { locale: 'sr-RS', language: 'sr', speaker: 'Nicholas' }],
  ['en-US-AvaMultilingualNeural', { locale: 'en-US', language: 'en', speaker: 'Ava' }],
])('parseVoiceName takes "%s" apart', (voice, parts) => {
  expect(parseVoiceName(voice)).toEqual(parts);
});

test.each([
  '',
  'Jenny',
  'en-US-Jenny',
  'en-US-Neural',
  '-v en-US-JennyNeural',
  'en-US-Jenny;lsNeural',
  '../en-US-JennyNeural',
])('parseVoiceName gives null for "%s"', (voice) => {
  expect(parseVoiceName(voice)).toBeNull();
});
