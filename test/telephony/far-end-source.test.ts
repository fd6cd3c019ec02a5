import { expect, test } from 'vitest';
import { FarEndSource, tracedPacketIn } from '../../src/telephony/freeswitch/far-end-source.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { settle } from './scripted-srf.ts';
import { OFFER } from './support/freeswitch-world.ts';

/** Where SIP came from; the SDP names 192.0.2.1:4000. */
const SIGNALLING = '203.0.113.50';
const NAT = { address: SIGNALLING, port: 61_000 };
const STRANGER = { address: '198.51.100.9', port: 5_000 };

function openSource() {
  const clock = new FakeClock();
  const traced: boolean[] = [];
  const world = { relayed: 0, moves: 0 };
  const source = new FarEndSource({
    signallingAddress: SIGNALLING,
    relayedPackets: async () => world.relayed,
    trace: async (isOn) => void traced.push(isOn),
    onMoved: () => {
      world.moves += 1;
    },
    clock,
  });
  const send = (from: typeof NAT, count: number) => {
    for (let sequence = 1; sequence <= count; sequence += 1)
      source.take({ source: from, sequence });
  };
  const pass = async (ms: number) => {
    clock.advance(ms);
    await settle();
  };
  return { source, world, traced, send, pass };
}

test('FarEndSource leaves the SDP alone while the far end is heard', async () => {
  const { source, world, traced, pass } = openSource();

  source.expect(OFFER);
  await settle();
  world.relayed = 5;
  await pass(100);

  expect(traced).toEqual([true, false]);
  expect(source.located(OFFER)).toBe(OFFER);
});

test('FarEndSource finds the host of signalling after four packets in sequence', async () => {
  const { source, world, send } = openSource();
  source.expect(OFFER);
  await settle();

  send(NAT, 3);
  const early = source.located(OFFER);
  source.take({ source: NAT, sequence: 4 });

  expect(early).toBe(OFFER);
  expect(world.moves).toBe(1);
  expect(source.located(OFFER)).toContain(`c=IN IP4 ${NAT.address}\r\n`);
  expect(source.located(OFFER)).toContain(`m=audio ${NAT.port} RTP/AVP 8 0 101\r\n`);
});

test('FarEndSource keeps what it has found when the same SDP comes again, and forgets it for another', async () => {
  const { source, send } = openSource();
  source.expect(OFFER);
  await settle();
  send(NAT, 4);
  const moved = OFFER.replace('m=audio 4000', 'm=audio 4002');

  source.expect(`${OFFER}a=sendonly\r\n`);
  const held = source.located(`${OFFER}a=sendonly\r\n`);
  source.expect(moved);

  expect(held).toContain(`m=audio ${NAT.port} `);
  expect(source.located(moved)).toBe(moved);
});

test('FarEndSource believes no stranger, and does not listen to a flood of them', async () => {
  const { source, world, traced, send, pass } = openSource();
  source.expect(OFFER);
  await settle();

  send(STRANGER, 600);
  await pass(100);

  expect(world.moves).toBe(0);
  expect(traced).toEqual([true, false]);
});

test('FarEndSource asks again where packets come from when the far end has fallen silent', async () => {
  const { source, world, traced, pass } = openSource();
  source.expect(OFFER);
  await settle();
  world.relayed = 5;
  await pass(100);

  await pass(2_000);

  expect(traced).toEqual([true, false, true]);
});

test('FarEndSource does nothing once it is stopped', async () => {
  const { source, world, traced, send, pass } = openSource();
  source.expect(OFFER);
  await settle();

  source.stop();
  send(NAT, 4);
  await pass(10_000);

  expect(world.moves).toBe(0);
  expect(traced).toEqual([true]);
});

test('tracedPacketIn reads where a packet really came from', () => {
  const line =
    'R sofia/offhook_outer/+1555@127.0.0.1 b= 172 10.0.0.5:24004 192.0.2.1:4000 203.0.113.50:61000 pt=0 ts=160 seq=7 m=0\n';

  expect(tracedPacketIn(line)).toEqual({ source: NAT, sequence: 7 });
  expect(
    tracedPacketIn('W sofia/offhook_outer/1 b= 172 a b c pt=0 ts=1 seq=7 m=0'),
  ).toBeUndefined();
});
