/** How long the agent waits for the caller, from what was said and how. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  completenessOf,
  forgetSomePause,
  isQuestion,
  type PauseObservation,
  rememberCutOffPause,
  rememberDictationPause,
  rememberPause,
  SILENCE_MS_CAP,
  silenceRequiredMs,
} from '../../src/conversation/endpointing/endpointing.ts';
import {
  contentWords,
  isBackchannel,
  isCourtesy,
  weighOverlap,
} from '../../src/conversation/turn/backchannel.ts';

const LIMITS = { silenceMsMin: 250, silenceMsMax: 1200, questionMs: 300, statementMs: 750 };
const PAUSE: PauseObservation = {
  completeness: 1,
  isQuestion: false,
  turnProbability: null,
  turnTrust: 0,
  dictation: null,
  typicalPauseMs: 0,
};
const TRUSTED = { ...PAUSE, turnTrust: 1 };
const PHONE = { kind: 'phone' } as const;

test.each([
  ['a whole statement', PAUSE, 750],
  ['a whole question', { ...PAUSE, isQuestion: true }, 300],
  [
    'a question of a caller who pauses often',
    { ...PAUSE, isQuestion: true, typicalPauseMs: 900 },
    725,
  ],
  ['words that break off', { ...PAUSE, completeness: 0 }, 1200],
  ['something in between', { ...PAUSE, completeness: 0.5 }, 975],
  ['a caller who pauses often', { ...PAUSE, typicalPauseMs: 800 }, 960],
  ['a caller with very long pauses', { ...PAUSE, typicalPauseMs: 9000 }, 1500],
  ['a whole sentence in a voice that goes on', { ...TRUSTED, turnProbability: 0 }, 820],
  [
    'half a sentence in a voice that is done',
    { ...TRUSTED, completeness: 0, turnProbability: 1 },
    630,
  ],
  ['words and voice that agree', { ...TRUSTED, turnProbability: 1 }, 250],
  ['a turn detector without trust', { ...PAUSE, turnProbability: 0 }, 750],
  [
    'three digits of a telephone number',
    { ...PAUSE, dictation: { ...PHONE, progress: 'begun' } },
    1800,
  ],
  [
    'a telephone number that may go on',
    { ...PAUSE, dictation: { ...PHONE, progress: 'perhaps' } },
    1000,
  ],
  [
    'a telephone number with a comma at its end',
    { ...PAUSE, completeness: 0, dictation: { ...PHONE, progress: 'perhaps' } },
    1800,
  ],
  [
    'a whole telephone number',
    { ...PAUSE, completeness: 0, dictation: { ...PHONE, progress: 'whole' } },
    250,
  ],
  [
    'a slow reader',
    { ...PAUSE, typicalPauseMs: 2000, dictation: { ...PHONE, progress: 'begun' } },
    2400,
  ],
] as const)('silenceRequiredMs for %s', (_what, pause, expected) => {
  expect(silenceRequiredMs(pause, LIMITS)).toBe(expected);
});

test('silenceRequiredMs is never shorter than the least and never above 3 s', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const pause = fc.record({
    completeness: share,
    isQuestion: fc.boolean(),
    turnProbability: fc.option(share),
    turnTrust: share,
    dictation: fc.option(
      fc.record({
        kind: fc.constantFrom('phone', 'digits', 'spelling', 'email', 'address'),
        progress: fc.constantFrom('begun', 'perhaps', 'whole'),
      }),
    ),
    typicalPauseMs: fc.nat(10_000),
  });

  fc.assert(
    fc.property(pause, (one) => {
      const requiredMs = silenceRequiredMs(one, LIMITS);

      expect(requiredMs).toBeGreaterThanOrEqual(LIMITS.silenceMsMin);
      expect(requiredMs).toBeLessThanOrEqual(SILENCE_MS_CAP);
      if (one.dictation === null) expect(requiredMs).toBeLessThanOrEqual(1500);
    }),
  );
});

test('silenceRequiredMs never waits longer for a voice that sounds more finished', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });

  fc.assert(
    fc.property(share, share, share, share, (completeness, turnTrust, one, other) => {
      const at = (turnProbability: number) =>
        silenceRequiredMs({ ...PAUSE, completeness, turnTrust, turnProbability }, LIMITS);

      expect(at(Math.max(one, other))).toBeLessThanOrEqual(at(Math.min(one, other)));
    }),
  );
});

test('rememberPause keeps a caller’s longest pause', () => {
  expect([600, 900, 150].reduce(rememberPause, 0)).toBe(900);
});

test('forgetSomePause brings a caller who answers briefly back to the usual wait in five turns', () => {
  const afterStory = rememberCutOffPause(0, 900);
  const later = [1, 2, 3, 4, 5].reduce(forgetSomePause, afterStory);

  expect(silenceRequiredMs({ ...PAUSE, typicalPauseMs: afterStory }, LIMITS)).toBeGreaterThan(1300);
  expect(silenceRequiredMs({ ...PAUSE, typicalPauseMs: later }, LIMITS)).toBe(LIMITS.statementMs);
});

test('rememberDictationPause comes to know a caller’s pauses slowly', () => {
  const once = rememberDictationPause(0, 600);
  const often = [600, 600, 600, 600, 600, 600].reduce(rememberDictationPause, 0);

  expect(once).toBe(180);
  expect(often).toBeGreaterThan(500);
});

test('rememberDictationPause unlearns long pauses of a caller who has come to read faster', () => {
  const slow = [900, 900, 900, 900, 900, 900].reduce(rememberDictationPause, 0);
  const fast = [150, 150, 150, 150, 150, 150].reduce(rememberDictationPause, slow);

  expect(fast).toBeLessThan(slow / 2);
});

test.each([
  ['What are your opening hours?', true],
  ['"¿Cuándo abren?"', true],
  ['Hello.', false],
  ['', false],
])('isQuestion of %j', (text, expected) => {
  expect(isQuestion(text)).toBe(expected);
});

test.each([
  ['What are your opening hours?', 1],
  ['Yes, please.', 1],
  ['Where are you from?', 1],
  ['Stop!', 1],
  ['I would like to book an appointment', 0.3],
  ['I would like to', 0],
  ['I would like a', 0],
  ['On Monday and', 0],
  ['On Monday, um.', 0],
  ['On Monday,', 0],
  ['On Monday...', 0],
  ['Quiero una cita con', 0],
  ['Necesito', 0],
  ['Ich hätte gern einen', 0],
  ['Ich möchte einen Termin und', 0],
  ['Je voudrais prendre rendez-vous avec', 0],
  ['I think so.', 1],
  ['I think so', 0],
  ['', 0.3],
])('completenessOf "%s" is %d', (text, expected) => {
  expect(completenessOf(text)).toBe(expected);
});

test.each([
  ['Mm-hm.', true],
  ['Yes.', true],
  ['Yes, okay.', true],
  ['I see.', true],
  ['Sí, vale.', true],
  ['Ja, genau.', true],
  ['Alles klar.', true],
  ["D'accord.", true],
  ['Oui oui.', true],
  ['Nein.', false],
  ['Moment mal.', false],
  ['No.', false],
  ['Stop.', false],
  ['Yes, please.', false],
  ['Yes yes yes.', false],
  ['', false],
  ['...', false],
])('isBackchannel "%s": %s', (text, expected) => {
  expect(isBackchannel(text)).toBe(expected);
});

test.each([
  ['Thank you, bye.', true],
  ['Hello?', true],
  ['Wait, one more thing.', false],
  ['', false],
])('isCourtesy "%s": %s', (text, expected) => {
  expect(isCourtesy(text)).toBe(expected);
});

test.each([
  ['a cough', '', 300, 'noise'],
  ['a hum', 'Mm-hm.', 400, 'backchannel'],
  ['a hum drawn out', 'Mm-hm.', 1100, 'backchannel'],
  ['a hum that goes on and on', 'Mm-hm.', 1300, 'claim'],
  ['thanks', 'Thank you.', 500, 'courtesy'],
  ['thanks drawn out', 'Thank you.', 900, 'claim'],
  ['a word', 'Stop.', 200, 'claim'],
] as const)('weighOverlap of %s', (_what, text, voicedMs, expected) => {
  const voice = { text, voicedMs, longMs: 800, confidence: 1, overUsualDb: 0 };

  expect(weighOverlap(voice)).toBe(expected);
});

test.each([
  ['Yes, okay, I see', 0],
  ['okay thank you', 0],
  ['no wait', 2],
  ['ja genau', 0],
  ['nein warten Sie', 3],
  ['sí pero mañana', 2],
  ["d'accord", 0],
  ['si\u0301', 0],
  ['मुझे मदद', 2],
])('contentWords of "%s": %d', (text, expected) => {
  expect(contentWords(text)).toBe(expected);
});
