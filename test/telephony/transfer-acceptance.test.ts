/** A third party that is asked whether it takes a transferred call. */
import { expect, test } from 'vitest';
import type { Acceptance } from '../../src/telephony/carrier.ts';
import { COLLEAGUE, openPair } from './scripted-pair.ts';
import { keyByInfo, settle } from './scripted-srf.ts';

const nothing = async function* (): AsyncGenerator<Int16Array> {};

/** A transfer whose third party has picked up and hears what it is about. */
async function consulted(acceptance: Partial<Acceptance> = {}) {
  const pair = openPair({ transferBy: 'bridge' });
  let questions = 0;
  const question = () => {
    questions += 1;
    return nothing();
  };
  const outcome = pair.first.leg
    .transfer(COLLEAGUE, { announcement: nothing, acceptance: { question, ...acceptance } })
    .catch((error: unknown) => error);
  pair.seconds[0]?.answer.resolve(pair.other.leg);
  await settle();
  /** Time goes by for both legs: greeting, announcement, question and answer end by their limits. */
  const pass = async (byMs: number) => {
    for (let passedMs = 0; passedMs < byMs; passedMs += 500) {
      pair.first.clock.advance(500);
      await settle();
    }
  };
  return { ...pair, outcome, pass, questions: () => questions };
}

const isConnected = ({ first, other }: Awaited<ReturnType<typeof consulted>>) =>
  first.endpoint.session.source === other.endpoint.session;

test('SrfLeg connects a third party that presses 1 after the question', async () => {
  const talk = await consulted();
  await talk.pass(28_000);
  const before = [talk.questions(), isConnected(talk)];

  talk.other.endpoint.report({ kind: 'digit', digit: '1', durationMs: 100 });

  expect(await talk.outcome).toBe('joined');
  expect(before).toEqual([1, false]);
  expect(isConnected(talk)).toBe(true);
});

test('SrfLeg connects a third party that presses 1 by INFO during the announcement, and does not ask', async () => {
  const talk = await consulted();
  await talk.pass(3_000);

  talk.other.dialog.receive('info', keyByInfo('1'));

  expect(await talk.outcome).toBe('joined');
  expect(talk.questions()).toBe(0);
});

test('SrfLeg hangs up on a third party that presses 2, and goes on with its caller', async () => {
  const talk = await consulted();
  await talk.pass(3_000);

  talk.other.dialog.receive('info', keyByInfo('2'));

  expect(await talk.outcome).toMatchObject({ name: 'CarrierError', sipStatus: 603 });
  expect(talk.methods(talk.other)).toEqual(['BYE']);
  expect([talk.first.causes, isConnected(talk)]).toEqual([[], false]);
  expect(talk.first.endpoint.session.background).toBeUndefined();
});

test('SrfLeg goes on with its caller when there is no answer, as from a mailbox, and leaves no wait behind', async () => {
  const talk = await consulted();
  const before = talk.first.clock.waiting;

  await talk.pass(38_000);

  expect(await talk.outcome).toMatchObject({ name: 'CarrierError', sipStatus: 480 });
  expect(talk.methods(talk.other)).toEqual(['BYE']);
  expect([talk.first.causes, isConnected(talk)]).toEqual([[], false]);
  expect(talk.first.clock.waiting).toBeLessThan(before);
});

test('SrfLeg ignores other keys, and a second answer', async () => {
  const talk = await consulted();
  await talk.pass(3_000);

  for (const digit of '5*12') talk.other.dialog.receive('info', keyByInfo(digit));

  expect(await talk.outcome).toBe('joined');
});

test('SrfLeg takes a spoken answer once the question is asked, and stops listening', async () => {
  const heard: { answer?: (isYes: boolean) => void; stops: number } = { stops: 0 };
  const talk = await consulted({
    hear: (_, onAnswer) => {
      heard.answer = onAnswer;
      return () => {
        heard.stops += 1;
      };
    },
  });
  await talk.pass(3_000);
  const isHeardEarly = heard.answer !== undefined;
  await talk.pass(16_000);

  heard.answer?.(true);

  expect(await talk.outcome).toBe('joined');
  expect([isHeardEarly, heard.stops]).toEqual([false, 1]);
});

test.each([
  'the caller',
  'the other party',
])('SrfLeg stops listening when %s hangs up before the answer', async (who) => {
  let stops = 0;
  const hear = () => () => {
    stops += 1;
  };
  const talk = await consulted({ hear });
  await talk.pass(28_000);

  (who === 'the caller' ? talk.first : talk.other).dialog.receive('destroy');
  await settle();

  expect(await talk.outcome).toMatchObject({ name: 'CarrierError' });
  expect(stops).toBe(1);
  expect(isConnected(talk)).toBe(false);
});

test('SrfLeg connects no one without an answer when the voice fails', async () => {
  const question = async function* () {
    yield await Promise.reject<Int16Array>(new Error('no voice'));
  };
  const talk = await consulted({ question });

  await talk.pass(38_000);

  expect(await talk.outcome).toMatchObject({ sipStatus: 480 });
});

test('SrfLeg drops what is left of an announcement whose voice fails, before the two are connected', async () => {
  const { first, other, seconds } = openPair({ transferBy: 'bridge' });
  const announcement = async function* () {
    yield new Int16Array(80_000);
    throw new Error('no voice');
  };
  const dropped: number[] = [];
  other.endpoint.audio.drop = (generation) => void dropped.push(generation);

  const outcome = first.leg.transfer(COLLEAGUE, { announcement });
  seconds[0]?.answer.resolve(other.leg);
  await settle();
  first.clock.advance(2_000);

  expect(await outcome).toBe('joined');
  expect(dropped).toEqual([1]);
});
