import { expect, test } from 'vitest';
import {
  countEngines,
  ENGINE_SCALE,
  percentilesOf,
} from '../../src/domain/analytics/answer-times.ts';

const turn = (details: Record<string, unknown>) => ({
  at: new Date('2026-11-20T12:00:00.000Z'),
  kind: 'turn',
  details,
});

/** What each engine took in the one turn, to within 4 % and 5 ms; null where it had no part in it. */
function timesOf(details: Record<string, unknown>) {
  const { recognition, model, voice } = countEngines([turn(details)]);
  return [recognition, model, voice].map(
    (counts) => percentilesOf(counts, ENGINE_SCALE)?.p50Ms ?? null,
  );
}

test('countEngines gives each engine the time from the mark before it', () => {
  const marks = { endOfTurnMs: 300, textFinalMs: 400, firstTokenMs: 600, firstClauseMs: 800 };

  const times = timesOf({ ...marks, firstAudioMs: 850, firstPacketMs: 870 });

  expect(times).toEqual([100, 400, 50]);
});

test('countEngines counts no waiting for words that a speculation had before the end of the turn', () => {
  const early = { textFinalMs: 50, firstTokenMs: 150, firstClauseMs: 250, firstAudioMs: 280 };

  const times = timesOf({ ...early, endOfTurnMs: 600, firstPacketMs: 620 });

  expect(times).toEqual([50, 200, 30]);
});

test('countEngines leaves out turns whose answer was never heard, and engines that a turn has no mark of', () => {
  expect(timesOf({ endOfTurnMs: 300, textFinalMs: 400, firstPacketMs: null })).toEqual([
    null,
    null,
    null,
  ]);
  expect(timesOf({ endOfTurnMs: 300, firstAudioMs: 400, firstPacketMs: 420 })).toEqual([
    null,
    null,
    100,
  ]);
});
