import { BlockList } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FAR_END, TestSession, VOICE } from './test-session.ts';

function listening(): TestSession {
  const session = new TestSession();
  session.setRemote();
  return session;
}

test('RtpSession receives from the far end alone, and counts other packets', () => {
  const session = listening();
  const stranger = { address: '198.51.100.1', port: 4000 };

  for (let packet = 0; packet < 50; packet += 1) session.speak(VOICE, { source: stranger });

  expect(session.session.stats()).toMatchObject({ packetsReceived: 0, packetsRejected: 50 });
  expect(session.heardAsLetters()).not.toContain('v');
  expect(session.sent.every(({ target }) => target.address === FAR_END.address)).toBe(true);
});

test('RtpSession talks to the true address of a caller behind NAT once it is proven', () => {
  const session = new TestSession({ signallingAddress: '203.0.113.5' });
  session.setRemote({ address: '10.0.0.2' });
  const source = { address: '203.0.113.5', port: 33_000 };

  for (let packet = 0; packet < 10; packet += 1) session.speak(VOICE, { source });

  expect(session.sent.at(-1)?.target).toEqual(source);
  expect(session.session.stats()).toMatchObject({ packetsReceived: 7, packetsRejected: 3 });
});

test('RtpSession talks to another host of the carrier than its SDP names once it is proven', () => {
  const carrier = new BlockList();
  carrier.addSubnet('203.0.113.0', 24);
  const session = new TestSession({ carrier });
  session.setRemote();
  const source = { address: '203.0.113.77', port: 33_000 };

  for (let packet = 0; packet < 10; packet += 1) session.speak(VOICE, { source });

  expect(session.sent.at(-1)?.target).toEqual(source);
  expect(session.session.stats()).toMatchObject({ packetsReceived: 7, packetsRejected: 3 });
});

test('RtpSession counts what it receives, misses and sends', () => {
  const session = listening();
  session.speakFor(200);
  session.lose();
  session.speakFor(200);

  const stats = session.session.stats();

  expect(stats).toMatchObject({
    packetsReceived: 20,
    packetsLost: 1,
    packetsRejected: 0,
    jitterMs: 0,
  });
  expect(stats.packetsSent).toBe(session.sent.length);
});

test('RtpSession swallows any datagram from any source', () => {
  const session = listening();
  const datagrams = fc.uint8Array({ maxLength: 400 });

  fc.assert(
    fc.property(datagrams, fc.boolean(), fc.nat(3), (datagram, isFarEnd, kind) => {
      if (datagram.length > 1) datagram[0] = 0x80;
      if (datagram.length > 1) datagram[1] = [0, 101, 200, 203][kind] ?? 0;
      const source = isFarEnd ? FAR_END : { address: '198.51.100.1', port: 9 };
      session.session.onRtp(datagram, source, session.nowMs);
      session.session.onRtcp(datagram, source, session.nowMs);
      session.clock.advance(5);

      return true;
    }),
    { numRuns: 2000 },
  );

  session.speakFor(100);
  expect(session.heardAsLetters().endsWith('vvvvv')).toBe(true);
});

test('RtpSession tells of the first packet of its far end, once, and of none of a stranger', () => {
  const session = listening();
  const stranger = { address: '198.51.100.1', port: 4000 };

  for (let packet = 0; packet < 10; packet += 1) session.speak(VOICE, { source: stranger });
  const before = session.arrivals;
  for (let packet = 0; packet < 10; packet += 1) session.speak(VOICE);

  expect([before, session.arrivals]).toEqual([0, 1]);
});
