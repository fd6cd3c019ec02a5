/** Small parts of the engine: names, counts, memory of refusals. */
import { expect, test } from 'vitest';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
import { EngineStats } from '../../src/sip/engine-stats.ts';
import { SipMessage } from '../../src/sip/message/message.ts';
import { Tokens } from '../../src/sip/own-messages.ts';
import { RefusedPeers } from '../../src/sip/request-sender.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { FakeFlow } from './messages.ts';

test('Tokens makes names of the bytes it is given, and none twice from one heap', () => {
  let byte = 0;
  const tokens = new Tokens((count) => new Uint8Array(count).map(() => byte++));

  const names = [tokens.branch(), tokens.tag(), tokens.callId()];

  expect(names).toEqual([
    'z9hG4bK000102030405060708090a0b',
    '0c0d0e0f10111213',
    '1415161718191a1b1c1d1e1f20212223',
  ]);
  expect(tokens.sequence()).toBe(1 + 0x24 * 256 + 0x25);
  expect(tokens.fraction()).toBeCloseTo(0x2627 / 65_536);
});

test('EngineStats counts everything and logs each reason once in ten seconds', () => {
  const clock = new FakeClock();
  const logged: object[] = [];
  const logger: Logger = { ...silentLogger, warn: (fields) => logged.push(fields) };
  const stats = new EngineStats({ clock, logger });

  for (let second = 0; second < 15; second++) {
    stats.drop('unreadable', 'Bad Via');
    stats.reject(420);
    clock.advance(1000);
  }

  expect(stats.counts.dropped.unreadable).toBe(15);
  expect(stats.counts.rejected.get(420)).toBe(15);
  expect(logged).toMatchObject([
    { reason: 'unreadable', count: 1 },
    { status: 420, count: 1 },
    { reason: 'unreadable', count: 11 },
    { status: 420, count: 11 },
  ]);
});

test('RefusedPeers forgets after five minutes, and the oldest of too many', () => {
  const clock = new FakeClock();
  const peers = new RefusedPeers(clock);
  const peer = (port: number) => ({ address: '192.0.2.1', port });

  for (let port = 1; port <= 257; port++) peers.add(peer(port));
  const before = [peers.has(peer(1)), peers.has(peer(2)), peers.has(peer(257))];
  clock.advance(300_000);

  expect(before).toEqual([false, true, true]);
  expect(peers.has(peer(257))).toBe(false);
});

test('EngineStats counts responses by status, and requests not among them', () => {
  const stats = new EngineStats({ clock: new FakeClock(), logger: silentLogger });

  const flow = new FakeFlow();
  const busy = new SipMessage();
  busy.status = 486;

  stats.sent(Buffer.from('SIP/2.0 180 Ringing\r\n'), flow, false);
  stats.sent(Buffer.from('SIP/2.0 180 Ringing\r\n'), flow, true);
  stats.sent(Buffer.from('BYE sip:a@b SIP/2.0\r\n'), flow, false);
  stats.read(busy, flow);

  expect(stats.counts.responsesOut).toEqual(new Map([[180, 2]]));
  expect(stats.counts.responsesIn).toEqual(new Map([[486, 1]]));
  expect(stats.counts.messagesOut).toBe(3);
});
