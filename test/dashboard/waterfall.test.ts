/** Where the time of turns went, as bars. */
import { expect, test } from 'vitest';
import {
  answerFigures,
  currentEntry,
  tickStepMs,
  waterfallOf,
} from '../../src/dashboard/call/timeline.ts';

const ORIGIN = Date.parse('2026-11-21T08:00:00.000Z');

function turn(details: Readonly<Record<string, unknown>>, timestamp = '2026-11-21T08:00:05.000Z') {
  return { timestamp, kind: 'turn', details: { turn: 1, speculated: false, ...details } };
}

test('spans follow each other, and the turn begins with the last word', () => {
  const entry = turn({ endOfTurnMs: 300, textFinalMs: 420, firstTokenMs: 500, firstPacketMs: 800 });

  const [bars] = waterfallOf([entry, { ...entry, kind: 'answered' }], ORIGIN);

  expect(bars?.spans).toMatchObject([
    { name: 'endOfTurn', fromMs: 0, toMs: 300 },
    { name: 'textFinal', fromMs: 300, toMs: 420 },
    { name: 'firstToken', fromMs: 420, toMs: 500 },
    { name: 'firstPacket', fromMs: 500, toMs: 800 },
  ]);
  expect(bars).toMatchObject({ atMs: 4200, answerMs: 800, bargeInMs: null });
});

test('what was done ahead of the end of the turn comes before it', () => {
  const [bars] = waterfallOf(
    [turn({ endOfTurnMs: 300, textFinalMs: 100, firstTokenMs: 250, speculated: true })],
    ORIGIN,
  );

  expect(bars?.spans.map(({ name }) => name)).toEqual(['textFinal', 'firstToken', 'endOfTurn']);
  expect(bars).toMatchObject({ isSpeculated: true, answerMs: null });
});

test('a turn without marks, or with wrong ones, has no spans', () => {
  const [bars] = waterfallOf([turn({ endOfTurnMs: 'soon', firstAudioMs: Number.NaN })], ORIGIN);

  expect(bars?.spans).toEqual([]);
});

test('the model takes from its first token to its first clause', () => {
  const [bars] = waterfallOf(
    [turn({ endOfTurnMs: 300, firstTokenMs: 400, firstClauseMs: 550, firstAudioMs: 600 })],
    ORIGIN,
  );

  expect(bars?.spans.slice(1)).toMatchObject([
    { name: 'firstToken', fromMs: 300, toMs: 400 },
    { name: 'firstToken', fromMs: 400, toMs: 550 },
    { name: 'firstAudio', fromMs: 550, toMs: 600 },
  ]);
});

test.each([
  [[700], 700, 700],
  [[700, 900], 800, 900],
  [[2000, 700, 900], 900, 2000],
])('answerFigures of answers after %j ms has the median %i and the worst %i', (answers, median, worst) => {
  const turns = waterfallOf(
    answers.map((firstPacketMs) => turn({ firstPacketMs })),
    ORIGIN,
  );

  expect(answerFigures(turns)).toMatchObject({ medianMs: median, worst: { answerMs: worst } });
});

test('answerFigures leaves out turns without a heard answer', () => {
  expect(answerFigures(waterfallOf([turn({ firstTokenMs: 400 })], ORIGIN))).toBeUndefined();
});

test.each([
  [900, 6, 200],
  [1000, 5, 200],
  [61, 6, 20],
  [0, 6, 1],
])('tickStepMs(%i, %i) is %i', (spanMs, steps, step) => {
  expect(tickStepMs(spanMs, steps)).toBe(step);
});

test('currentEntry goes by when entries began, in whatever order they stand', () => {
  expect(currentEntry([0, 5000, 3000], 4000)).toBe(2);
  expect(currentEntry([0, 5000, 3000], 6000)).toBe(1);
});

test.each([
  [-1, -1],
  [0, 0],
  [1999, 0],
  [2000, 1],
  [9000, 2],
])('currentEntry at %i ms is %i', (atMs, index) => {
  expect(currentEntry([0, 2000, 5000], atMs)).toBe(index);
});
