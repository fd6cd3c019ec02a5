import { expect, test } from 'vitest';
import { RemoteReception } from '../../src/rtp/reception.ts';
import { ntpMiddleOf, type ReportBlock } from '../../src/rtp/rtcp.ts';

const SENT_AT_MS = 1_763_000_000_000;

const reportOf = (fields: Partial<ReportBlock> = {}): ReportBlock => ({
  ...{ ssrc: 1, fractionLost: 0, packetsLost: 5, highestSequence: 0, jitterSamples: 80 },
  ...{ lastSenderReport: 0, delaySinceLastSenderReport: 0 },
  ...fields,
});

/** An answer to our report of `SENT_AT_MS`, which lay there for so long. */
const answerAfter = (lyingMs: number, fields: Partial<ReportBlock> = {}) =>
  reportOf({
    lastSenderReport: ntpMiddleOf(SENT_AT_MS),
    delaySinceLastSenderReport: Math.round(lyingMs * 65.536),
    ...fields,
  });

test('RemoteReception has no figures before the first report', () => {
  expect(new RemoteReception().figures).toBeUndefined();
});

test('RemoteReception keeps the newest counts, with the packets sent until then', () => {
  const remote = new RemoteReception();

  remote.count(reportOf(), { nowMs: 0, packetsSent: 100 });
  remote.count(reportOf({ packetsLost: 7, jitterSamples: 16 }), { nowMs: 5000, packetsSent: 350 });

  expect(remote.figures).toEqual({
    ...{ packetsSent: 350, packetsLost: 7, jitterMs: 2 },
    ...{ roundTripMs: undefined, roundTripMsMax: undefined },
  });
});

test('RemoteReception measures the way there and back, without the time between', () => {
  const remote = new RemoteReception();

  remote.count(answerAfter(4000), { nowMs: SENT_AT_MS + 4080, packetsSent: 100 });
  remote.count(answerAfter(1000), { nowMs: SENT_AT_MS + 1120, packetsSent: 100 });

  expect(remote.figures?.roundTripMs).toBeCloseTo(100, 0);
  expect(remote.figures?.roundTripMsMax).toBeCloseTo(120, 0);
});

test.each([
  ['an answer before the question', answerAfter(5000), SENT_AT_MS + 4000],
  ['a clock of its own', answerAfter(0, { lastSenderReport: 77 }), SENT_AT_MS],
  ['more than half a minute', answerAfter(0), SENT_AT_MS + 31_000],
])('RemoteReception measures nothing by %s', (_case, report, nowMs) => {
  const remote = new RemoteReception();

  remote.count(report, { nowMs, packetsSent: 100 });

  expect(remote.figures?.roundTripMs).toBeUndefined();
});

test('RemoteReception takes a way that seems to take less than no time for none', () => {
  const remote = new RemoteReception();

  remote.count(answerAfter(20), { nowMs: SENT_AT_MS + 10, packetsSent: 100 });

  expect(remote.figures?.roundTripMs).toBe(0);
});

test.each([
  ['fewer than none', -3, 0],
  ['more than were sent', 5000, 100],
])('RemoteReception bounds what the far end says was lost: %s', (_case, packetsLost, expected) => {
  const remote = new RemoteReception();

  remote.count(reportOf({ packetsLost }), { nowMs: 0, packetsSent: 100 });

  expect(remote.figures?.packetsLost).toBe(expected);
});
