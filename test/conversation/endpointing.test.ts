/** How long the agent waits for the caller, from what was said and how. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isBackchannel, isCourtesy } from '../../src/conversation/backchannel.ts';
import { completenessOf, isDictating } from '../../src/conversation/completeness.ts';
import { rememberPause, silenceRequiredMs } from '../../src/conversation/endpointing.ts';

const LIMITS = { silenceMsMin: 250, silenceMsMax: 1200 };
const PAUSE = { completeness: 1, isDictating: false, typicalPauseMs: 0 };

test.each([
  ['a whole sentence', PAUSE, 250],
  ['words that break off', { ...PAUSE, completeness: 0 }, 1200],
  ['something in between', { ...PAUSE, completeness: 0.5 }, 725],
  ['a number that is being read out', { ...PAUSE, isDictating: true }, 1200],
  ['a caller who pauses often', { ...PAUSE, typicalPauseMs: 500 }, 600],
  ['a caller who pauses for ever', { ...PAUSE, typicalPauseMs: 9000 }, 725],
])('silenceRequiredMs for %s', (_what, pause, expected) => {
  expect(silenceRequiredMs(pause, LIMITS)).toBe(expected);
});

test('silenceRequiredMs stays within its limits', () => {
  const pause = fc.record({
    completeness: fc.double({ min: 0, max: 1, noNaN: true }),
    isDictating: fc.boolean(),
    typicalPauseMs: fc.nat(10_000),
  });

  fc.assert(
    fc.property(pause, (one) => {
      const requiredMs = silenceRequiredMs(one, LIMITS);

      expect(requiredMs).toBeGreaterThanOrEqual(LIMITS.silenceMsMin);
      expect(requiredMs).toBeLessThanOrEqual(LIMITS.silenceMsMax);
    }),
  );
});

test('rememberPause comes to know a caller’s pauses slowly', () => {
  const once = rememberPause(0, 600);
  const often = [600, 600, 600, 600, 600, 600].reduce(rememberPause, 0);

  expect(once).toBe(180);
  expect(often).toBeGreaterThan(500);
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
  ['', 0.3],
])('completenessOf "%s" is %d', (text, expected) => {
  expect(completenessOf(text)).toBe(expected);
});

test.each([
  ['My number is five five.', '', true],
  ['Five.', 'What is your order number?', true],
  ['5551', '', true],
  ['zero six, one two three four five six seven eight.', '', false],
  ["At nine o'clock.", '', false],
  ['Five.', 'How many people?', false],
  ['john at example', 'What is your e-mail address?', true],
  ['john at example dot com.', 'What is your e-mail address?', false],
  ['john@example.com', 'What is your e-mail address?', false],
  ['No.', 'Shall I send you an e-mail?', false],
  ['What are your opening hours?', '', false],
])('isDictating "%s" after "%s": %s', (text, question, expected) => {
  expect(isDictating(text, question)).toBe(expected);
});

test.each([
  ['Mm-hm.', true],
  ['Yes.', true],
  ['Yes, okay.', true],
  ['I see.', true],
  ['Sí, vale.', true],
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
