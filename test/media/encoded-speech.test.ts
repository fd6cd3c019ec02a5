import { join } from 'node:path';
import { expect, test } from 'vitest';
import { encodeG711, type G711Law } from '../../src/media/dsp/g711.ts';
import { Playout } from '../../src/media/rtp-session/playout.ts';
import { readStereo } from '../support/speech/recording.ts';
import { testFolder } from '../support/store/test-store.ts';
import { FAR_END, reply, TestSession } from './test-session.ts';

const HEADER_WORDS = 3;

/** The next frame as it would be sent in that law; undefined where there is no whole one. */
function take(playout: Playout, law: G711Law): Uint8Array | undefined {
  const words = new Int32Array(HEADER_WORDS + 40);
  const isTaken = playout.takeEncoded(law, words, HEADER_WORDS);
  return isTaken ? new Uint8Array(words.buffer, HEADER_WORDS * 4) : undefined;
}

function talking(): Playout {
  const playout = new Playout();
  playout.begin(1);
  return playout;
}

test.each([
  'PCMU',
  'PCMA',
] as const)('Playout gives the frames of a reply in %s, however it was said', (law) => {
  const playout = talking();
  const pcm = reply(25);
  for (let at = 0; at < pcm.length; at += 333) playout.say(1, pcm.subarray(at, at + 333));

  const frames = Array.from({ length: 25 }, () => take(playout, law));

  expect(Buffer.concat(frames.map((frame) => frame ?? new Uint8Array(0)))).toEqual(
    Buffer.from(encodeG711(law, pcm)),
  );
  expect(playout.playedMs).toBe(500);
});

test('Playout gives encoded and plain frames in turns, in order', () => {
  const playout = talking();
  playout.say(1, reply(3));
  const plain = new Int16Array(160);

  const first = take(playout, 'PCMU');
  playout.takeInto(plain);
  const third = take(playout, 'PCMU');

  expect([first?.[0], plain[0], third?.[0]]).toEqual([
    encodeG711('PCMU', Int16Array.of(1000))[0],
    1001,
    encodeG711('PCMU', Int16Array.of(1002))[0],
  ]);
});

test.each([
  [
    'while it is paused',
    (playout: Playout) => {
      playout.pause();
      return take(playout, 'PCMU');
    },
  ],
  [
    'of less than a frame',
    (playout: Playout) => {
      take(playout, 'PCMU');
      playout.finish(1);
      return take(playout, 'PCMU');
    },
  ],
])('Playout gives no encoded frame %s', (_when, attempt) => {
  const playout = talking();
  playout.say(1, reply(2).subarray(0, 200));

  const frame = attempt(playout);

  expect(frame).toBeUndefined();
});

test('Playout gives each frame in the law that it is asked for', () => {
  const playout = talking();
  const pcm = reply(14);
  playout.say(1, pcm);
  const laws = ['PCMU', 'PCMA', 'PCMA', 'PCMU'] as const;

  const frames = Array.from({ length: 14 }, (_, index) => take(playout, laws[index % 4] ?? 'PCMU'));

  expect(frames).toEqual(
    frames.map((_, index) =>
      encodeG711(laws[index % 4] ?? 'PCMU', pcm.subarray(index * 160, (index + 1) * 160)),
    ),
  );
});

test('Playout gives the frames of a reply that is said while it is played', () => {
  const playout = talking();
  const pcm = reply(25);
  const frames: (Uint8Array | undefined)[] = [];
  for (let at = 0; at < pcm.length; at += 200) {
    playout.say(1, pcm.subarray(at, at + 200));
    frames.push(take(playout, 'PCMU'));
  }
  for (let left = 0; left < 5; left += 1) frames.push(take(playout, 'PCMU'));

  expect(Buffer.concat(frames.map((frame) => frame ?? new Uint8Array(0)))).toEqual(
    Buffer.from(encodeG711('PCMU', pcm)),
  );
});

test('Playout gives nothing of the reply before, in the same memory', () => {
  const playout = talking();
  playout.say(1, new Int16Array(3200).fill(5000));
  take(playout, 'PCMU');

  playout.begin(2);
  playout.say(2, reply(1));
  const first = take(playout, 'PCMU');
  playout.say(2, reply(20));
  const rest = Array.from({ length: 20 }, () => take(playout, 'PCMU'));

  expect(first).toEqual(encodeG711('PCMU', reply(1)));
  expect(Buffer.concat(rest.map((frame) => frame ?? new Uint8Array(0)))).toEqual(
    Buffer.from(encodeG711('PCMU', reply(20))),
  );
});

test('RtpSession sends a reply on in the new codec when that changes in its middle', () => {
  const session = new TestSession();
  session.setRemote();
  session.session.begin(1);
  session.session.say(1, reply(4), session.nowMs);
  session.clock.advance(20);

  session.setRemote({ codec: 'PCMA', payloadType: 8 });
  session.clock.advance(40);

  const spoken = session.sent.filter(({ target }) => target.port === FAR_END.port).slice(0, 4);
  expect(spoken.map(({ payloadType }) => payloadType)).toEqual([0, 0, 8, 8]);
  expect(spoken.map(({ payload }) => payload[0])).toEqual([
    ...encodeG711('PCMU', Int16Array.of(1000, 1001)),
    ...encodeG711('PCMA', Int16Array.of(1002, 1003)),
  ]);
});

test('RtpSession records a reply as it was said, and not as it was encoded', async () => {
  const file = join(testFolder(), 'a.wav');
  const session = new TestSession();
  session.setRemote();
  session.session.record(file, session.nowMs);
  session.session.begin(1);

  session.session.say(1, reply(10), session.nowMs);
  session.session.finish(1, session.nowMs);
  session.clock.advance(300);
  await session.session.close(session.nowMs);

  const right = readStereo(file)?.right ?? new Int16Array();
  expect(right.filter((sample) => sample !== 0)).toEqual(reply(10));
});
