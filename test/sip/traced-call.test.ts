/** A whole call between two of our engines, as the trace of one of them sees it. */
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { CallTraces, traceText } from '../../src/sip/call-traces.ts';
import { SDP } from './messages.ts';
import { eventually, losingSocket, type Pair, startPair, stopPair } from './user-agents.ts';

/** So long that nothing is repeated on a machine that has other things to do. */
const timers = { t1Ms: 4000, t2Ms: 8000, t4Ms: 5000 };

let pair: Pair | undefined;

afterEach(async () => {
  if (pair !== undefined) await stopPair(pair);
  pair = undefined;
});

/** Rings, answers and is hung up on. @returns what the called side saw. */
async function callThrough(world: Pair, traces: CallTraces) {
  const { alice, bob, bobUri } = world;
  bob.once('invite', (invite) => {
    invite.progress(180);
    invite.accept({ body: SDP });
  });
  const { dialog } = await alice.invite({ uri: bobUri, body: SDP }).outcome;
  await dialog?.bye();
  return traces.get(dialog?.data.callId ?? '');
}

function kindsOf(trace: ReturnType<CallTraces['get']>): string[] {
  return (trace?.messages ?? []).map((message) => {
    const [first = '', second = ''] = traceText(message).split(' ');
    return `${message.isIncoming ? '<' : '>'} ${first === 'SIP/2.0' ? second : first}`;
  });
}

test.each([
  'UDP',
  'TCP',
] as const)('UserAgent shows its trace every message of a call over %s', async (protocol) => {
  const traces = new CallTraces({ clock: systemClock });
  pair = await startPair(protocol, { alice: { timers }, bob: { timers, trace: traces } });

  const trace = await callThrough(pair, traces);

  const expected = ['< INVITE', '> 180', '> 200', '< ACK', '< BYE', '> 200'];
  expect(kindsOf(trace).filter((kind) => kind !== '> 100')).toEqual(expected);
  expect(trace?.messages[0]).toMatchObject({
    protocol,
    local: { port: pair.bob.addresses[0]?.port },
    remote: { address: '127.0.0.1', port: expect.any(Number) },
  });
  expect(traceText(trace?.messages[0] ?? { wire: Buffer.alloc(0) })).toContain(SDP);
  expect(trace?.isOver).toBe(true);
});

test('UserAgent shows its trace also what is repeated, after the end as well', async () => {
  const traces = new CallTraces({ clock: systemClock });
  let byes = 0;
  const isLost = (bytes: Buffer) => bytes.includes('CSeq: 2 BYE') && byes++ === 0;
  const bob = { trace: traces, openUdpSocket: losingSocket(isLost) };
  pair = await startPair('UDP', { bob });

  const trace = await callThrough(pair, traces);

  const tail = () => kindsOf(trace).slice(-4);
  await eventually(() => tail().length === 4 && tail()[3] === '> 200', 'the repeated answer');
  expect(tail()).toEqual(['< BYE', '> 200', '< BYE', '> 200']);
});

test('UserAgent shows its trace what it calls itself', async () => {
  const traces = new CallTraces({ clock: systemClock });
  pair = await startPair('UDP', { alice: { timers, trace: traces }, bob: { timers } });

  const trace = await callThrough(pair, traces);

  const expected = ['> INVITE', '< 180', '< 200', '> ACK', '> BYE', '< 200'];
  expect(kindsOf(trace).filter((kind) => kind !== '< 100')).toEqual(expected);
});
