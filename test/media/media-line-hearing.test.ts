import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeG711 } from '../../src/media/g711.ts';
import { levelDbfs } from '../../src/media/level.ts';
import { writeTelephoneEvent } from '../../src/rtp/telephone-event.ts';
import { FAR_END, reply, SILENCE, TestLine, VOICE } from './test-line.ts';

function listening(): TestLine {
  const line = new TestLine();
  line.setRemote();
  return line;
}

/** One letter for each 20 ms that were heard: `v` voice, `.` silence. */
function heard(line: TestLine): string {
  const pcm = line.heard.read(0);
  return Array.from({ length: pcm.length / 160 }, (_, index) =>
    levelDbfs(pcm.subarray(index * 160, (index + 1) * 160)) > -40 ? 'v' : '.',
  ).join('');
}

test('MediaLine writes what it hears into the ring', () => {
  const line = listening();

  line.speakFor(100);
  line.speakFor(60, SILENCE);

  expect(heard(line)).toBe('vvvvv...');
  expect(line.heard.endAtMs).toBe(line.nowMs - 20);
});

test('MediaLine decodes A-law under its own number too', () => {
  const line = listening();

  line.speak(VOICE, { payloadType: 8, payload: encodeG711('PCMA', VOICE) });

  expect(levelDbfs(line.heard.read(0))).toBeCloseTo(levelDbfs(VOICE), 1);
});

test('MediaLine puts silence in the place of lost packets', () => {
  const line = listening();

  line.speakFor(60);
  line.lose();
  line.lose();
  line.speakFor(80);

  expect(heard(line)).toBe('vvv..vvvv');
});

test('MediaLine writes silence by the clock when a caller sends none', () => {
  const line = listening();
  line.speakFor(200);

  line.pauseFor(2000);
  line.speakFor(100);

  const all = heard(line);
  expect(all).toMatch(/^v{10}\.+v{5}$/);
  expect(Math.abs(all.length - 115)).toBeLessThanOrEqual(2);
});

test('MediaLine tells the end of speech by the clock when a caller sends no silence', () => {
  const line = listening();
  line.speakFor(200);
  const lastVoicedAtMs = line.nowMs - 20;

  line.pauseFor(120);

  expect(line.events).toEqual([
    { kind: 'voice-started', atMs: lastVoicedAtMs - 180 },
    { kind: 'voice-stopped', lastVoicedAtMs },
  ]);
});

test('MediaLine keeps the ring at the clock before the first packet', () => {
  const line = listening();

  line.clock.advance(1000);

  expect(line.heard.end).toBeGreaterThanOrEqual(8 * 900);
});

test('MediaLine keeps all of a burst that the network held up', () => {
  const line = listening();
  line.speakFor(100);
  line.clock.advance(300);

  const frozenAtMs = line.nowMs;
  line.clock.nowMs = () => frozenAtMs;
  for (let packet = 0; packet < 15; packet += 1) line.speak(VOICE);

  expect(heard(line).match(/v/g)).toHaveLength(20);
});

test.each([
  ['another SSRC', { ssrc: 5, sequence: 10, timestamp: 77 }],
  ['a count begun anew', { sequence: 10, timestamp: 77 }],
])('MediaLine hears on at once after %s', (_name, start) => {
  const line = listening();
  line.speakFor(100);

  for (let packet = 0; packet < 5; packet += 1) {
    const { sequence, timestamp } = start;
    line.speak(VOICE, {
      ...start,
      sequence: sequence + packet,
      timestamp: timestamp + packet * 160,
    });
  }

  expect(heard(line)).toBe('v'.repeat(10));
});

test('MediaLine takes music on hold for silence', () => {
  const line = listening();
  line.speakFor(100);

  line.setRemote({ maySend: false });
  line.speakFor(1000);

  expect(heard(line)).toMatch(/^v{5}\.{48,50}$/);
});

test('MediaLine takes digits out of the audio', () => {
  const line = listening();
  line.speakFor(60);
  const key = (durationSamples: number, isEnd: boolean) => ({
    payloadType: 101,
    timestamp: 0xffff_f000 + 480,
    payload: writeTelephoneEvent({ event: 5, isEnd, durationSamples }),
  });

  for (const [durationSamples, isEnd] of [
    [160, false],
    [320, false],
    [480, true],
    [480, true],
    [480, true],
  ] as const) {
    line.speak(VOICE, key(durationSamples, isEnd));
  }
  line.speakFor(60);

  expect(line.events.filter(({ kind }) => kind === 'digit')).toEqual([
    { kind: 'digit', digit: '5', durationMs: 60 },
  ]);
  expect(heard(line)).toBe('vvv.....vvv');
});

test('MediaLine reports lost media once, and again only after it was back', () => {
  const line = listening();
  line.speakFor(100);

  line.pauseFor(60_000);
  const once = line.kinds().filter((kind) => kind === 'media-lost').length;
  line.speakFor(100);
  line.pauseFor(20_000);

  expect(once).toBe(1);
  expect(line.kinds().filter((kind) => kind === 'media-lost')).toHaveLength(2);
});

test.each([
  ['on hold', { maySend: false }],
  ['held both ways', { maySend: false, mayReceive: false }],
])('MediaLine misses no media %s', (_name, changes) => {
  const line = listening();
  line.setRemote(changes);

  line.pauseFor(60_000);

  expect(line.events).toEqual([]);
});

test('MediaLine misses no media after comfort noise', () => {
  const line = listening();
  line.speak(VOICE, { payloadType: 13, payload: Uint8Array.of(70) });

  line.pauseFor(60_000);

  expect(line.events).toEqual([]);
});

test('MediaLine pauses an interruptible reply at the third voiced packet', () => {
  const line = listening();
  line.line.setInterruptible(true);
  line.line.begin(1);
  line.line.say(1, reply(100), line.nowMs);
  line.speakFor(200, SILENCE);
  const onsetAtMs = line.nowMs;

  line.speakFor(60);
  const stoppedBy = line.sent.at(-1)?.atMs ?? 0;
  line.clock.advance(100);
  const after = line.sent.filter(({ atMs }) => atMs > stoppedBy);

  expect(line.kinds()).toEqual(['playout-started', 'voice-started', 'playout-paused']);
  expect(stoppedBy - onsetAtMs).toBeLessThanOrEqual(60);
  expect(after.every(({ payload }) => payload[0] === 0xff)).toBe(true);
});

test('MediaLine plays the rest after resume and forgets it after drop', () => {
  const outcomes = (['resume', 'drop'] as const).map((wish) => {
    const line = listening();
    line.line.setInterruptible(true);
    line.line.begin(1);
    line.line.say(1, reply(20), line.nowMs);
    line.line.finish(1, line.nowMs);
    line.speakFor(100, VOICE);
    line.line[wish](1, line.nowMs);
    line.speakFor(600, SILENCE);
    return line.events.find(({ kind }) => kind === 'playout-finished');
  });

  expect(outcomes).toEqual([
    { kind: 'playout-finished', generation: 1, playedMs: 400, isComplete: true },
    {
      kind: 'playout-finished',
      generation: 1,
      playedMs: expect.toSatisfy((ms) => ms <= 80),
      isComplete: false,
    },
  ]);
});

test.each([
  ['a reply that is not interruptible', false, VOICE],
  ['a click of one packet', true, SILENCE],
])('MediaLine does not pause: %s', (_name, isInterruptible, rest) => {
  const line = listening();
  line.line.setInterruptible(isInterruptible);
  line.line.begin(1);
  line.line.say(1, reply(100), line.nowMs);
  line.speakFor(200, SILENCE);

  line.speak(VOICE);
  line.speakFor(200, rest);

  expect(line.kinds()).not.toContain('playout-paused');
});

test('MediaLine hears nobody but the far end, and counts the others', () => {
  const line = listening();
  const stranger = { address: '198.51.100.1', port: 4000 };

  for (let packet = 0; packet < 50; packet += 1) line.speak(VOICE, { source: stranger });

  expect(line.line.stats()).toMatchObject({ packetsReceived: 0, packetsRejected: 50 });
  expect(heard(line)).not.toContain('v');
  expect(line.sent.every(({ target }) => target.address === FAR_END.address)).toBe(true);
});

test('MediaLine talks to the true address of a caller behind NAT once it is proven', () => {
  const line = new TestLine({ signallingAddress: '203.0.113.5' });
  line.setRemote({ address: '10.0.0.2' });
  const source = { address: '203.0.113.5', port: 33_000 };

  for (let packet = 0; packet < 10; packet += 1) line.speak(VOICE, { source });

  expect(line.sent.at(-1)?.target).toEqual(source);
  expect(line.line.stats()).toMatchObject({ packetsReceived: 7, packetsRejected: 3 });
});

test('MediaLine counts what it receives, misses and sends', () => {
  const line = listening();
  line.speakFor(200);
  line.lose();
  line.speakFor(200);

  const stats = line.line.stats();

  expect(stats).toMatchObject({
    packetsReceived: 20,
    packetsLost: 1,
    packetsRejected: 0,
    jitterMs: 0,
  });
  expect(stats.packetsSent).toBe(line.sent.length);
});

test('MediaLine swallows any datagram from any source', () => {
  const line = listening();
  const datagrams = fc.uint8Array({ maxLength: 400 });

  fc.assert(
    fc.property(datagrams, fc.boolean(), fc.nat(3), (datagram, isFarEnd, kind) => {
      if (datagram.length > 1) datagram[0] = 0x80;
      if (datagram.length > 1) datagram[1] = [0, 101, 200, 203][kind] ?? 0;
      const source = isFarEnd ? FAR_END : { address: '198.51.100.1', port: 9 };
      line.line.onRtp(datagram, source, line.nowMs);
      line.line.onRtcp(datagram, source, line.nowMs);
      line.clock.advance(5);

      return true;
    }),
    { numRuns: 2000 },
  );

  line.speakFor(100);
  expect(heard(line).endsWith('vvvvv')).toBe(true);
});
