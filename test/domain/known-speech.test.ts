import { expect, test } from 'vitest';
import { nearest, requireKnownSpeech } from '../../src/domain/agent/agent-rules.ts';
import { silentVoices } from '../support/api/silent-voices.ts';

test.each([
  [{}],
  [{ voice: 'en-US-JennyNeural' }],
  [{ language: 'de' }],
  [{ language: 'DE-at' }],
])('requireKnownSpeech takes %j', (choice) => {
  expect(() => requireKnownSpeech(choice, silentVoices())).not.toThrow();
});

test('requireKnownSpeech refuses an unknown voice and an unknown language at once, and names the nearest', () => {
  const choice = { voice: 'en-us-Jeny', language: 'dx-DE' };

  expect(() => requireKnownSpeech(choice, silentVoices(), 'overrides.')).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      details: [
        {
          path: 'overrides.voice',
          message: expect.stringMatching(/the nearest: en-US-JennyNeural, /),
        },
        { path: 'overrides.language', message: expect.stringMatching(/the nearest: de, en/) },
      ],
    }),
  );
});

test('nearest names three, those with the fewest differing letters first', () => {
  expect(nearest('Jeny', ['Zoe', 'Anna', 'Jan', 'Jenny', 'Jen'])).toEqual(['Jen', 'Jenny', 'Jan']);
});
