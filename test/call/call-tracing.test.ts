import { expect, test } from 'vitest';
import { spansOfCall } from '../../src/call/session/call-tracing.ts';
import type { TimelineEntry } from '../../src/domain/call/call.ts';
import type { SpanTree } from '../../src/lib/span-exporter.ts';
import { buildCall } from '../support/store/build-call.ts';

const START_MS = Date.parse('2030-01-01T10:00:00.000Z');
const at = (ms: number) => new Date(START_MS + ms);

const OVER = buildCall({
  status: 'completed',
  endReason: 'user_hangup',
  startedAt: at(0),
  answeredAt: at(2000),
  endedAt: at(30_000),
});

const TIMES = {
  turn: 1,
  endOfTurnMs: 250,
  textFinalMs: 180.5,
  firstTokenMs: 320,
  firstClauseMs: 400,
  firstAudioMs: 450,
  firstPacketMs: 460,
};

const turn = (details: TimelineEntry['details']): TimelineEntry => ({
  at: at(10_000),
  kind: 'turn',
  details,
});

function treeOf(...timeline: readonly TimelineEntry[]): SpanTree {
  const tree = spansOfCall(OVER, timeline);
  if (tree === null) throw new Error('The call is over, and yet there is no trace of it');
  return tree;
}

/** Name, beginning and end, in milliseconds after the call began to ring. */
const placeOf = ({ name, startMs, endMs }: SpanTree) => [
  name,
  startMs - START_MS,
  endMs - START_MS,
];

test('spansOfCall makes nothing of a call that goes on', () => {
  expect(spansOfCall(buildCall({ endedAt: null }), [])).toBeNull();
});

test('spansOfCall begins with the ring and ends with the call', () => {
  const tree = treeOf();

  expect(placeOf(tree)).toEqual(['call', 0, 30_000]);
  expect(tree.children.map(placeOf)).toEqual([['ringing', 0, 2000]]);
});

test('spansOfCall lays the stages of a turn after each other, back from its first packet', () => {
  const [, span] = treeOf(turn(TIMES)).children;

  expect(span && placeOf(span)).toEqual(['turn', 9540, 10_000]);
  expect(span?.children.map(placeOf)).toEqual([
    ['endpointing', 9540, 9790],
    ['stt', 9540, 9720.5],
    ['llm', 9720.5, 9940],
    ['tts', 9940, 9990],
    ['playout', 9990, 10_000],
  ]);
});

test('spansOfCall leaves out the stages that a turn did not come to', () => {
  const [, span] = treeOf(turn({ turn: 2, endOfTurnMs: 300, textFinalMs: 200 })).children;

  expect(span?.children.map(({ name }) => name)).toEqual(['endpointing', 'stt']);
  expect(span && placeOf(span)).toEqual(['turn', 9700, 10_000]);
});

test('spansOfCall turns no stage back to front where the answer was thought ahead', () => {
  const [, span] = treeOf(turn({ ...TIMES, textFinalMs: 420, firstClauseMs: 400 })).children;

  expect(span?.children.every(({ startMs, endMs }) => startMs <= endMs)).toBe(true);
});

test('spansOfCall keeps numbers and flags of a turn, and no text', () => {
  const [, span] = treeOf(
    turn({ ...TIMES, speculated: true, words: 'my card number is' }),
  ).children;

  expect(span?.attributes).toMatchObject({ 'turn.turn': 1, 'turn.speculated': true });
  expect(JSON.stringify(span)).not.toContain('card');
});

test('spansOfCall tells tools by name and outcome, and what happened in an instant', () => {
  const tree = treeOf(
    { at: at(5000), kind: 'tool', details: { name: 'end_call', outcome: 'done', tookMs: 120 } },
    { at: at(6000), kind: 'barge_in', details: {} },
    { at: at(7000), kind: 'digit', details: {} },
  );

  const [, tool] = tree.children;
  expect(tool && placeOf(tool)).toEqual(['tool', 4880, 5000]);
  expect(tool?.attributes).toEqual({ 'tool.name': 'end_call', 'tool.outcome': 'done' });
  expect(tree.instants).toEqual([{ name: 'barge_in', atMs: START_MS + 6000 }]);
});

test('spansOfCall names call and agent, and no telephone number', () => {
  const tree = treeOf();

  expect(tree.attributes).toMatchObject({ 'call.id': OVER.id, 'call.end_reason': 'user_hangup' });
  expect(JSON.stringify(tree)).not.toContain(OVER.from);
  expect(JSON.stringify(tree)).not.toContain(OVER.to);
});
