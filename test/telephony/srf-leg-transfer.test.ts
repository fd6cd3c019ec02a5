import { expect, test } from 'vitest';
import { CarrierError } from '../../src/telephony/carrier.ts';
import type { SecondLeg } from '../../src/telephony/drachtio/transfer/transfer.ts';
import { COLLEAGUE, openPair } from './scripted-pair.ts';
import { keyByInfo, settle } from './scripted-srf.ts';

test.each([
  [405, ['REFER'], 1],
  [501, ['REFER'], 1],
  [603, ['REFER'], 1],
  [481, ['REFER'], 0],
  [408, ['REFER'], 0],
])('SrfLeg calls by itself after REFER was answered with %d', async (status, sent, calls) => {
  const { first, seconds, methods } = openPair({}, status);

  const outcome = first.leg.transfer(COLLEAGUE).catch((error: unknown) => error);
  await settle();
  for (const { answer } of seconds) answer.reject(new CarrierError('busy', 486));

  expect(await outcome).toMatchObject({ sipStatus: calls === 1 ? 486 : status });
  expect(methods(first)).toEqual(sent);
  expect(seconds).toHaveLength(calls);
});

test('SrfLeg does not call by itself where the carrier has tried: the other party is busy', async () => {
  const { first, seconds } = openPair({}, 202);

  const outcome = first.leg.transfer(COLLEAGUE).catch((error: unknown) => error);
  await settle();
  const headers = { 'Content-Type': 'message/sipfrag', 'Subscription-State': 'terminated' };
  first.dialog.receive('notify', { headers, body: 'SIP/2.0 486 Busy Here' });

  expect(await outcome).toMatchObject({ sipStatus: 486 });
  expect(seconds).toEqual([]);
});

test('SrfLeg plays ringing while the other party rings, and no longer', async () => {
  const { first, other, seconds } = openPair({ transferBy: 'bridge' });

  const transferred = first.leg.transfer(COLLEAGUE);
  const before = first.endpoint.session.background;
  seconds[0]?.ring();
  const during = first.endpoint.session.background;
  seconds[0]?.answer.resolve(other.leg);
  await transferred;

  expect([before, during?.length]).toEqual([undefined, 40_000]);
  expect(first.endpoint.session.background).toBeUndefined();
});

test('SrfLeg plays the music of the operator instead, from the first moment to the join, and lets no early media through', async () => {
  const holdMusic = new Int16Array(8_000);
  const isHeard: boolean[] = [];
  const answer = Promise.withResolvers<SecondLeg>();
  const { first, other } = openPair({
    transferBy: 'bridge',
    holdMusic,
    callSecond: (_, { isEarlyMediaHeard }) => {
      isHeard.push(isEarlyMediaHeard);
      return { answered: answer.promise, onRinging: (ring) => ring(), cancel: () => undefined };
    },
  });

  const transferred = first.leg.transfer(COLLEAGUE);
  const during = first.endpoint.session.background;
  answer.resolve(other.leg);
  await transferred;

  expect([during === holdMusic, isHeard]).toEqual([true, [false]]);
  expect(first.endpoint.session.background).toBeUndefined();
});

test('SrfLeg goes on after the transfer by bridge, until the other party leaves', async () => {
  const { first, other, seconds, methods } = openPair({ transferBy: 'bridge' });

  const transferred = first.leg.transfer(COLLEAGUE);
  seconds[0]?.answer.resolve(other.leg);
  const outcome = await transferred;
  const before = [methods(first), [...first.causes]];
  other.dialog.receive('destroy');
  await settle();

  expect(outcome).toBe('joined');
  expect(before).toEqual([[], []]);
  expect(first.causes).toEqual([{ kind: 'transferred' }]);
  expect(methods(first)).toEqual(['BYE']);
  expect([first.endpoint, other.endpoint].map(({ isClosed }) => isClosed)).toEqual([true, true]);
});

test('SrfLeg goes on alone with its caller when the other party leaves, where it is to return, and can be transferred again', async () => {
  const { first, other, seconds, methods } = openPair({ transferBy: 'bridge' });
  const keys: string[] = [];
  first.leg.onDigit((digit) => keys.push(digit));
  let returns = 0;
  const onAlone = () => {
    returns += 1;
  };

  const transferred = first.leg.transfer(COLLEAGUE, { onAlone });
  seconds[0]?.answer.resolve(other.leg);
  await transferred;
  other.dialog.receive('destroy');
  await settle();
  first.dialog.receive('info', keyByInfo('5'));
  const again = first.leg.transfer(COLLEAGUE).catch((error: unknown) => error);
  await settle();
  seconds[1]?.answer.reject(new CarrierError('busy', 486));

  expect([returns, methods(first), first.causes]).toEqual([1, [], []]);
  expect(first.endpoint.session.source).toBeUndefined();
  expect(first.endpoint.isClosed).toBe(false);
  expect(keys).toEqual(['5']);
  expect(await again).toMatchObject({ sipStatus: 486 });
});

test('SrfLeg that is to return ends with its caller, and does not return then', async () => {
  const { first, other, seconds, methods } = openPair({ transferBy: 'bridge' });
  let returns = 0;
  const onAlone = () => {
    returns += 1;
  };
  const transferred = first.leg.transfer(COLLEAGUE, { onAlone });
  seconds[0]?.answer.resolve(other.leg);
  await transferred;

  first.dialog.receive('destroy');
  await settle();

  expect(first.causes).toEqual([{ kind: 'far-end' }]);
  expect(methods(other)).toEqual(['BYE']);
  expect(returns).toBe(0);
});

test('SrfLeg passes keys by INFO between joined legs, and none to the agent that has left', async () => {
  const { first, other, seconds } = openPair({ transferBy: 'bridge' });
  const keys: string[] = [];
  first.leg.onDigit((digit) => keys.push(digit));
  const transferred = first.leg.transfer(COLLEAGUE);
  seconds[0]?.answer.resolve(other.leg);
  await transferred;

  first.dialog.receive('info', keyByInfo('5'));
  other.dialog.receive('info', keyByInfo('7'));

  expect(other.endpoint.session.digits).toBe('5');
  expect(first.endpoint.session.digits).toBe('7');
  expect(keys).toEqual([]);
});

test('SrfLeg refuses another transfer once it is joined', async () => {
  const { first, other, seconds } = openPair({ transferBy: 'bridge' });
  const transferred = first.leg.transfer(COLLEAGUE);
  seconds[0]?.answer.resolve(other.leg);
  await transferred;

  const refusals = await Promise.all([
    first.leg.transfer(COLLEAGUE).catch((error: unknown) => error),
    first.leg.bringIn(COLLEAGUE).catch((error: unknown) => error),
  ]);

  expect(refusals).toMatchObject([{ sipStatus: 491 }, { sipStatus: 491 }]);
  expect([seconds.length, first.causes]).toEqual([1, []]);
});

test('SrfLeg reports a transfer by REFER before its release', async () => {
  const { first, seconds } = openPair({ transferBy: 'refer' }, 202);
  const order: string[] = [];

  const transferred = first.leg.transfer(COLLEAGUE).then((outcome) => order.push(outcome));
  await settle();
  const headers = { 'Content-Type': 'message/sipfrag', 'Subscription-State': 'active' };
  const ended = new Promise<void>((resolve) => {
    first.leg.onReleased(() => {
      void first.leg.hangUp().then(() => {
        order.push('ended');
        resolve();
      });
    });
  });
  first.dialog.receive('notify', { headers, body: 'SIP/2.0 200 OK' });
  await Promise.all([transferred, ended]);

  expect(order).toEqual(['referred', 'ended']);
  expect(seconds).toEqual([]);
});

test.each([
  [
    'media is lost',
    'broken',
    (pair: ReturnType<typeof openPair>) => pair.first.endpoint.report({ kind: 'media-lost' }),
  ],
  [
    'media of the other party is lost',
    'transferred',
    (pair: ReturnType<typeof openPair>) => pair.other.endpoint.report({ kind: 'media-lost' }),
  ],
  ['we hang up', 'near-end', (pair: ReturnType<typeof openPair>) => void pair.first.leg.hangUp()],
  [
    'the SIP server is gone',
    'far-end',
    (pair: ReturnType<typeof openPair>) => pair.first.leg.abandon({ kind: 'far-end' }),
  ],
])('SrfLeg ends both joined legs when %s', async (_, kind, happen) => {
  const pair = openPair({ transferBy: 'bridge' });
  const transferred = pair.first.leg.transfer(COLLEAGUE);
  pair.seconds[0]?.answer.resolve(pair.other.leg);
  await transferred;

  happen(pair);
  await settle();

  expect(pair.methods(pair.other)).toEqual(['BYE']);
  expect(pair.first.leg.isOver).toBe(true);
  expect(pair.first.causes).toMatchObject([{ kind }]);
});

test('SrfLeg that is hung up gives its second call up, and hangs up on an answer that crosses', async () => {
  const { first, other, seconds, methods } = openPair({ transferBy: 'bridge' });

  const outcome = first.leg.transfer(COLLEAGUE).catch((error: unknown) => error);
  seconds[0]?.answer.resolve(other.leg);
  first.dialog.receive('destroy');
  await settle();

  expect(seconds[0]?.isCancelled).toBe(true);
  expect(methods(other)).toEqual(['BYE']);
  expect(await outcome).toMatchObject({ name: 'CarrierError', sipStatus: 481 });
});

test('SrfLeg goes on when the other party hangs up during the announcement', async () => {
  const { first, other, seconds } = openPair();
  const announcement = async function* () {};

  const outcome = first.leg.transfer(COLLEAGUE, { announcement }).catch((error: unknown) => error);
  seconds[0]?.answer.resolve(other.leg);
  await settle();
  other.dialog.receive('destroy');

  expect(await outcome).toMatchObject({ sipStatus: 480 });
  expect(first.causes).toEqual([]);
});

test('SrfLeg connects both when the voice fails', async () => {
  const { first, other, seconds } = openPair();
  const announcement = async function* () {
    yield await Promise.reject<Int16Array>(new Error('no voice'));
  };

  const transferred = first.leg.transfer(COLLEAGUE, { announcement });
  seconds[0]?.answer.resolve(other.leg);
  await settle();
  first.clock.advance(2_000);
  await transferred;

  expect(first.endpoint.session.source).toBe(other.endpoint.session);
  expect(other.endpoint.session.source).toBe(first.endpoint.session);
});

test('SrfLeg connects both when the voice stalls', async () => {
  const { first, other, seconds } = openPair();
  const announcement = async function* () {
    yield await new Promise<Int16Array>(() => undefined);
  };

  const transferred = first.leg.transfer(COLLEAGUE, { announcement });
  seconds[0]?.answer.resolve(other.leg);
  await settle();
  other.clock.advance(2_000);
  first.clock.advance(2_000);
  await settle();
  other.clock.advance(15_000);
  first.clock.advance(15_000);
  await transferred;

  expect(first.endpoint.session.source).toBe(other.endpoint.session);
});
