/** A leg with a third party: both legs when a party leaves during a transition. */
import { expect, test } from 'vitest';
import type { ThreeWayCall } from '../../src/telephony/carrier.ts';
import { COLLEAGUE, openPair } from './scripted-pair.ts';
import { keyByInfo, settle } from './scripted-srf.ts';

type Pair = ReturnType<typeof openPair>;

/** A leg that has brought the other party in. */
async function meet(): Promise<Pair & { readonly threeWay: ThreeWayCall }> {
  const pair = openPair();
  const met = pair.first.leg.bringIn(COLLEAGUE);
  pair.seconds[0]?.answer.resolve(pair.other.leg);
  return { ...pair, threeWay: await met };
}

test('SrfLeg mixes both lines, and joins them when the agent leaves', async () => {
  const { first, other, methods, threeWay } = await meet();
  const mixed = first.endpoint.session.mixed;

  await threeWay.leave();

  expect(mixed).toBe(other.endpoint.session);
  expect(methods(first)).toEqual([]);
  expect(first.endpoint.session.mixed).toBeUndefined();
  expect(first.endpoint.session.source).toBe(other.endpoint.session);
  expect(first.causes).toEqual([]);
});

test('SrfLeg is released when the other party hangs up after the agent has left', async () => {
  const { first, other, methods, threeWay } = await meet();
  await threeWay.leave();

  other.dialog.receive('destroy');
  await settle();

  expect(methods(first)).toEqual(['BYE']);
  expect(first.causes).toEqual([{ kind: 'transferred' }]);
});

test('SrfLeg goes on with its caller when the other party hangs up after the agent has left, where it is to return', async () => {
  const { first, other, methods, threeWay } = await meet();
  let returns = 0;
  await threeWay.leave(() => {
    returns += 1;
  });

  other.dialog.receive('destroy');
  await settle();

  expect([returns, methods(first), first.causes]).toEqual([1, [], []]);
  expect(first.endpoint.session.source).toBeUndefined();
});

test('SrfLeg passes keys that come by INFO on to the other party, and to the agent as long as it is there', async () => {
  const { first, other, threeWay } = await meet();
  const keys: string[] = [];
  first.leg.onDigit((digit) => keys.push(digit));

  first.dialog.receive('info', keyByInfo('5'));
  other.dialog.receive('info', keyByInfo('7'));
  await threeWay.leave();
  first.dialog.receive('info', keyByInfo('1'));
  other.dialog.receive('info', keyByInfo('2'));

  expect(keys).toEqual(['5', '7']);
  expect(other.endpoint.session.digits).toBe('51');
  expect(first.endpoint.session.digits).toBe('72');
});

test('SrfLeg gives keys that come by INFO to the agent alone once the other party has left', async () => {
  const { first, other } = await meet();
  const keys: string[] = [];
  first.leg.onDigit((digit) => keys.push(digit));

  other.dialog.receive('destroy');
  first.dialog.receive('info', keyByInfo('5'));

  expect(keys).toEqual(['5']);
  expect(other.endpoint.session.digits).toBe('');
});

test('SrfLeg goes on as it was when the agent cannot leave, and may be asked again', async () => {
  const { first, threeWay } = await meet();
  const { session: line } = first.endpoint;
  const feedFrom = line.feedFrom.bind(line);
  line.feedFrom = () => {
    throw new RangeError('they are not on one thread');
  };

  const refusal = await threeWay.leave().catch((error: unknown) => error);
  const mixed = line.mixed;
  line.feedFrom = feedFrom;
  await threeWay.leave();

  expect(refusal).toMatchObject({ name: 'CarrierError', sipStatus: 503 });
  expect(mixed).toBeDefined();
  expect(line.mixed).toBeUndefined();
  expect(first.causes).toEqual([]);
});

test('SrfLeg hangs up the third party when its caller hangs up after the agent has left', async () => {
  const { first, methods, other, threeWay } = await meet();
  await threeWay.leave();

  first.dialog.receive('destroy');
  await settle();

  expect(methods(other)).toEqual(['BYE']);
  expect(first.causes).toEqual([{ kind: 'far-end' }]);
});

test('SrfLeg lets the other party go at once when it hangs up on a caller who does not answer BYE', async () => {
  const { first, other, methods } = await meet();
  first.dialog.request = (options) => {
    first.dialog.sent.push(options);
    return new Promise(() => undefined);
  };

  void first.leg.hangUp();
  await settle();

  expect(methods(first)).toEqual(['BYE']);
  expect(methods(other)).toEqual(['BYE']);
});

test('ThreeWayCall tells a listener that comes late, and once, that the other party has left', async () => {
  const { first, other, threeWay } = await meet();
  let times = 0;

  other.dialog.receive('destroy');
  threeWay.onAlone(() => {
    times += 1;
  });
  const again = first.leg.bringIn(COLLEAGUE).catch((error: unknown) => error);
  first.dialog.receive('destroy');
  await again;

  expect(times).toBe(1);
});

test('SrfLeg does not bring in a party that answers at the moment when its call ends', async () => {
  const { first, other, seconds, methods } = openPair();

  const outcome = first.leg.bringIn(COLLEAGUE).catch((error: unknown) => error);
  seconds[0]?.answer.resolve(other.leg);
  first.dialog.receive('destroy');
  await settle();

  expect(await outcome).toMatchObject({ sipStatus: 481 });
  expect(methods(other)).toEqual(['BYE']);
});

test.each([
  ['the other party', 480, []],
  ['the caller', 481, [{ kind: 'far-end' }]],
] as const)('SrfLeg mixes no lines once %s has hung up while the other party is told what it is about', async (who, sipStatus, causes) => {
  const { first, other, seconds } = openPair();
  const announcement = async function* (): AsyncGenerator<Int16Array> {};
  const outcome = first.leg.bringIn(COLLEAGUE, { announcement }).catch((error: unknown) => error);
  seconds[0]?.ring();
  seconds[0]?.answer.resolve(other.leg);
  await settle();

  (who === 'the caller' ? first : other).dialog.receive('destroy');
  const refusal = await outcome;
  for (const elapsedMs of [2_000, 20_000]) {
    first.clock.advance(elapsedMs);
    await settle();
  }

  expect(refusal).toMatchObject({ name: 'CarrierError', sipStatus });
  expect(first.causes).toEqual(causes);
  expect(first.endpoint.session).toMatchObject({ mixed: undefined, background: undefined });
  expect(other.endpoint.isClosed).toBe(true);
});

test('SrfLeg goes on when the lines of the two cannot be mixed, and lets the other party go', async () => {
  const { first, other, seconds, methods } = openPair();
  first.endpoint.session.mixWith = () => {
    throw new RangeError('they are not on one thread');
  };

  const outcome = first.leg.bringIn(COLLEAGUE).catch((error: unknown) => error);
  seconds[0]?.answer.resolve(other.leg);

  expect(await outcome).toMatchObject({ name: 'CarrierError', sipStatus: 503 });
  expect(methods(other)).toEqual(['BYE']);
  expect(first.causes).toEqual([]);
});
