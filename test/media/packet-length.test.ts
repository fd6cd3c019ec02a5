import { expect, test } from 'vitest';
import { decodeG711 } from '../../src/media/dsp/g711.ts';
import { parseSdp } from '../../src/rtp/sdp.ts';
import { agree, answer } from '../../src/rtp/sdp-answer.ts';
import { reply, type SentPacket, TestSession } from './test-session.ts';

const OURS = { address: '192.0.2.1', port: 20_000, sessionId: 1, version: 1 };

function offerWith(...lines: readonly string[]): string {
  return [
    ...['v=0', 'o=- 1 1 IN IP4 192.0.2.7', 's=-', 'c=IN IP4 192.0.2.7', 't=0 0'],
    ...['m=audio 4000 RTP/AVP 0', ...lines, ''],
  ].join('\r\n');
}

test.each([
  [['a=ptime:10'], 10],
  [['a=ptime:20'], 20],
  [['a=ptime:30'], 30],
  [['a=ptime:40', 'a=maxptime:150'], 40],
  [['a=ptime:60'], 60],
  [['a=ptime:50', 'a=maxptime:30'], 30],
  [['a=maxptime:10'], 10],
  [['a=maxptime:40'], 20],
  [['a=ptime:35'], 30],
  [['a=ptime:120'], 60],
  [['a=ptime:0'], 20],
  [['a=ptime:x', 'a=maxptime:0'], 20],
])('an offer with %j is answered and obeyed with %i ms', (lines, expectedMs) => {
  const theirs = parseSdp(offerWith(...lines));

  const text = answer(theirs, OURS);

  expect(agree(theirs).ptimeMs ?? 20).toBe(expectedMs);
  expect(text).toContain(`a=ptime:${expectedMs}\r\n`);
});

/** Samples that each packet is after the one before. */
function stepsOf(sent: readonly SentPacket[]): readonly number[] {
  return sent.slice(1).map(({ timestamp }, index) => timestamp - (sent[index]?.timestamp ?? 0));
}

test.each([
  10, 30, 40, 60,
])('RtpSession sends packets of %i ms, without a gap or an overlap', (ptimeMs) => {
  const session = new TestSession();
  session.setRemote({ ptimeMs });
  const words = reply(30);

  session.clock.advance(100);
  session.session.begin(1);
  session.session.say(1, words, session.nowMs);
  session.session.finish(1, session.nowMs);
  session.clock.advance(1000);

  const { sent } = session;
  const heard = sent.flatMap(({ payload }) => [...decodeG711('PCMU', payload)]);
  const spoken = heard.filter((sample) => sample !== 0);
  expect(new Set(sent.map(({ payload }) => payload.length))).toEqual(new Set([ptimeMs * 8]));
  expect(new Set(stepsOf(sent))).toEqual(new Set([ptimeMs * 8]));
  expect(sent.map(({ sequence }) => sequence - (sent[0]?.sequence ?? 0))).toEqual([...sent.keys()]);
  expect(sent.filter(({ hasMarker }) => hasMarker)).toHaveLength(1);
  expect(spoken).toHaveLength(words.length);
  expect(session.kinds()).toContain('playout-finished');
});

test('RtpSession ends a long packet early where keys follow, and after a change of the length', () => {
  const session = new TestSession();
  session.setRemote({ ptimeMs: 60 });
  session.clock.advance(40);

  session.session.sendDigits('1');
  session.clock.advance(160);
  session.clock.advance(40);
  session.setRemote({ ptimeMs: 20 });
  session.clock.advance(40);

  const lengths = session.sent
    .filter(({ payloadType }) => payloadType === 0)
    .map(({ payload }) => payload.length);
  const first = session.sent[0]?.timestamp ?? 0;
  expect(lengths.at(0)).toBeLessThan(480);
  expect(lengths.slice(-2)).toEqual([160, 160]);
  expect(session.sent.filter(({ payloadType }) => payloadType === 101)).toHaveLength(7);
  expect(session.sent.every(({ timestamp }) => timestamp >= first)).toBe(true);
});
