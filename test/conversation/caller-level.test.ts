/** Loudness in the weighing of a voice over the agent's: what it may change, and what it may not. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isBackchannel,
  isCourtesy,
  LEVEL_UNKNOWN,
  learnLevel,
  overUsualDb,
  type SpokenLevel,
  weighOverlap,
} from '../../src/conversation/turn/backchannel.ts';

test('learnLevel is the mean over the time that was voiced', () => {
  const first = learnLevel(LEVEL_UNKNOWN, { levelDbfs: -30, voicedMs: 1000 });
  const second = learnLevel(first, { levelDbfs: -24, voicedMs: 2000 });

  expect(second).toEqual({ levelDbfs: -26, voicedMs: 3000 });
});

test('learnLevel follows a caller who moves away from the telephone', () => {
  const near = { levelDbfs: -18, voicedMs: 600_000 };

  const far = Array.from({ length: 20 }, () => ({ levelDbfs: -30, voicedMs: 2000 })).reduce(
    learnLevel,
    near as SpokenLevel,
  );

  expect(far.levelDbfs).toBeLessThan(-28);
});

test('overUsualDb tells nothing before a sentence has been heard, or of a voice that was not measured', () => {
  const word = { levelDbfs: -10, voicedMs: 300 };

  expect(overUsualDb({ levelDbfs: -30, voicedMs: 1000 }, word)).toBe(0);
  expect(overUsualDb({ levelDbfs: -30, voicedMs: 5000 }, LEVEL_UNKNOWN)).toBe(0);
  expect(overUsualDb({ levelDbfs: -30, voicedMs: 5000 }, word)).toBe(20);
});

test.each([
  [
    '"okay" called out, which wants the floor but from a greeting',
    { text: 'Okay.', overUsualDb: 6 },
    'courtesy',
  ],
  ['"okay" with a little more stress', { text: 'Okay.', overUsualDb: 4 }, 'backchannel'],
  ['"okay okay" called out', { text: 'Okay, okay!', overUsualDb: 9 }, 'courtesy'],
  ['a hum called out', { text: 'Mm-hm!', overUsualDb: 12 }, 'backchannel'],
  ['"hello" called out', { text: 'Hello?', overUsualDb: 12 }, 'courtesy'],
  ['a murmur', { text: 'Them.', overUsualDb: -6, confidence: 0.95 }, 'murmur'],
  ['a murmur well understood', { text: 'Stop.', overUsualDb: -6, confidence: 0.9 }, 'claim'],
  ['an unsure word, not soft', { text: 'Them.', overUsualDb: 0, confidence: 0.85 }, 'murmur'],
  ['the same called out', { text: 'Them.', overUsualDb: 3, confidence: 0.85 }, 'claim'],
  ['a long murmur', { text: 'Them.', overUsualDb: -9, confidence: 0.5, voicedMs: 900 }, 'claim'],
  ['two soft words', { text: 'Two seven.', overUsualDb: -9, confidence: 0.9 }, 'murmur'],
  ['"no, on Tuesday", half understood', { text: 'No, please.', confidence: 0.82 }, 'claim'],
  ['"oh", taken for "no"', { text: 'No.', confidence: 0.75 }, 'murmur'],
  ['an unsure farewell', { text: 'Goodbye.', confidence: 0.8 }, 'murmur'],
  ['"stop" in German', { text: 'Nein, stopp.', confidence: 0.8 }, 'claim'],
  ['"wait" in Japanese', { text: '待って。', confidence: 0.8 }, 'claim'],
  ['"yes" in Hindi', { text: 'हाँ।', confidence: 0.3 }, 'backchannel'],
  ['"yes" in Telugu', { text: 'అవును', confidence: 0.3 }, 'backchannel'],
  ['"right" in Chinese', { text: '对对。', confidence: 0.3 }, 'backchannel'],
] as const)('weighOverlap takes %s for what it is', (_what, voice, expected) => {
  const usual = { confidence: 1, voicedMs: 400, longMs: 800, overUsualDb: 0 };

  expect(weighOverlap({ ...usual, ...voice })).toBe(expected);
});

const TEXTS = ['', 'Mm-hm.', 'Okay.', 'Yes.', 'Okay, right.', 'Thank you.', 'Stop.', 'Not now.'];

const voice = fc.record({
  text: fc.constantFrom(...TEXTS),
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  voicedMs: fc.integer({ min: 0, max: 2000 }),
  longMs: fc.constantFrom(500, 800, 1200),
});

test('weighOverlap without a level goes by words and length alone where they are sure', () => {
  fc.assert(
    fc.property(voice, ({ confidence, ...rest }) => {
      const one = { ...rest, confidence: 0.9 + confidence * 0.1 };
      const { text, voicedMs, longMs } = one;
      const isShort = voicedMs <= 1200;
      const plain =
        text === ''
          ? 'noise'
          : isBackchannel(text) && isShort
            ? 'backchannel'
            : isCourtesy(text) && voicedMs <= longMs
              ? 'courtesy'
              : 'claim';

      expect(weighOverlap({ ...one, overUsualDb: 0 })).toBe(plain);
    }),
  );
});

test('weighOverlap never takes the floor from a voice because it is louder', () => {
  const level = fc.double({ min: -30, max: 30, noNaN: true });
  fc.assert(
    fc.property(voice, level, level, (one, some, other) => {
      const softer = weighOverlap({ ...one, overUsualDb: Math.min(some, other) });
      const louder = weighOverlap({ ...one, overUsualDb: Math.max(some, other) });

      if (softer === 'claim') expect(louder).toBe('claim');
      if (softer === 'noise') expect(louder).toBe('noise');
      if (softer === 'courtesy') expect(louder).toBe('courtesy');
      if (louder === 'murmur') expect(softer).not.toBe('claim');
    }),
    { numRuns: 2000 },
  );
});

test('weighOverlap lets a word that is well understood interrupt, however soft', () => {
  const level = fc.double({ min: -60, max: 60, noNaN: true });
  fc.assert(
    fc.property(voice, level, (one, overUsualDb) => {
      const sure = { ...one, text: 'Stop.', confidence: 0.8 + one.confidence * 0.2 };

      expect(weighOverlap({ ...sure, overUsualDb })).toBe('claim');
    }),
  );
});
