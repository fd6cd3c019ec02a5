/** Calls that go on to the next trunk with the same number. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Phone, type RingingCall } from '../../examples/phone/phone.ts';
import type { CarrierError } from '../../src/telephony/carrier.ts';
import type { Trunk } from '../../src/telephony/trunks/trunks.ts';
import { freePort } from '../support/network/free-ports.ts';
import {
  type Script,
  type ScriptedCarrier,
  startCarrier,
} from '../support/sip/scripted-carrier.ts';
import { type EmbeddedPlane, startSilentPlane } from './embedded-plane.ts';
import { OURS, THEIRS, trunkTo } from './plane.ts';

const REQUEST = { from: OURS, to: THEIRS, ringingTimeoutMs: 20_000 };

/** Without OPTIONS, so that calls alone find out. */
const UNASKED = { optionsIntervalSeconds: 0, allowedSources: [] };

const stops: (() => Promise<unknown>)[] = [];
let phone: Phone;
let first: ScriptedCarrier;

beforeEach(async () => {
  phone = new Phone({ number: THEIRS });
  await phone.start();
  first = await startCarrier(() => undefined);
  stops.push(
    () => phone.stop(),
    () => first.stop(),
  );
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function start(...trunks: readonly Trunk[]): Promise<EmbeddedPlane> {
  const plane = await startSilentPlane(trunks);
  stops.push(() => plane.stop());
  return plane;
}

function trunk(name: string, proxy: string, fields: object = {}): Trunk {
  return trunkTo(proxy, { name, ...UNASKED, ...fields });
}

function answering(status: number): Script {
  return ({ method }) => (method === 'INVITE' ? { status } : undefined);
}

describe('Carrier with two trunks that have the number', () => {
  test.each([
    ['answers 503', answering(503)],
    ['answers 408', answering(408)],
    ['answers nothing', () => undefined],
  ])('goes on to the second one when the first %s', async (_case, script: Script) => {
    first.script = script;
    phone.onRinging((call) => void call.answer());
    const plane = await start(trunk('one', first.hostPort), trunk('two', phone.hostPort()));

    const startedAtMs = performance.now();
    const call = plane.carrier.place(REQUEST);
    const leg = await call.answered;

    expect(performance.now() - startedAtMs).toBeLessThan(8_000);
    expect(first.of('INVITE').length).toBeGreaterThan(0);
    await leg.hangUp();
  });

  test('sends no further INVITE to the first when it wakes up after the second has answered', async () => {
    phone.onRinging((call) => void call.answer());
    const plane = await start(trunk('one', first.hostPort), trunk('two', phone.hostPort()));

    const leg = await plane.carrier.place(REQUEST).answered;
    const sentInSilence = first.of('INVITE').length;
    first.script = ({ method }) => (method === 'INVITE' ? { status: 486 } : undefined);
    // The next repeat of an INVITE would come 7.5 s after the first one. RFC 3261, 17.1.1.2.
    await pause(4_500);

    expect(first.of('INVITE')).toHaveLength(sentInSilence);
    await leg.hangUp();
  }, 20_000);

  test('goes on when the first one refuses the connection', async () => {
    phone.onRinging((call) => void call.answer());
    const closed = `127.0.0.1:${await freePort()};transport=tcp`;
    const plane = await start(trunk('one', closed), trunk('two', phone.hostPort()));

    const leg = await plane.carrier.place(REQUEST).answered;

    await leg.hangUp();
  });

  test('believes an answer of the called party, and asks no other trunk', async () => {
    first.script = answering(486);
    let rings = 0;
    phone.onRinging((call) => {
      rings += 1;
      call.reject(480);
    });
    const plane = await start(trunk('one', first.hostPort), trunk('two', phone.hostPort()));

    const error: CarrierError = await plane.carrier.place(REQUEST).answered.catch((why) => why);

    expect([error.sipStatus, rings]).toEqual([486, 0]);
  });

  test('does not go on with a call that was cancelled', async () => {
    let rings = 0;
    phone.onRinging(() => {
      rings += 1;
    });
    first.script = ({ method, header }) => {
      if (method === 'INVITE') return { status: 100 };
      const CSeq = header('CSeq').replace('CANCEL', 'INVITE');
      return method === 'CANCEL' ? { status: 503, headers: { CSeq } } : undefined;
    };
    const plane = await start(trunk('one', first.hostPort), trunk('two', phone.hostPort()));

    const call = plane.carrier.place(REQUEST);
    await expect.poll(() => first.of('INVITE').length).toBeGreaterThan(0);
    call.cancel();

    await expect(call.answered).rejects.toThrow('trunk "one"');
    expect(rings).toBe(0);
  });

  test('takes the second one while the lines of the first are all in use', async () => {
    phone.onRinging((call) => call.ring());
    const one = trunk('one', first.hostPort, { maxCalls: 1 });
    const plane = await start(one, trunk('two', phone.hostPort()));

    const waiting = plane.carrier.place(REQUEST);
    const route = plane.carrier.routeFor(OURS);
    const ringing = Promise.withResolvers<void>();
    plane.carrier.place(REQUEST).onRinging(ringing.resolve);
    await ringing.promise;

    expect(route).toMatchObject({ trunk: 'two', problem: undefined });
    waiting.cancel();
  });

  test('stays with the first while the second has no free line, and goes on once it has one', async () => {
    const calls: RingingCall[] = [];
    phone.onRinging((call) => {
      calls.push(call);
      if (calls.length > 1) void call.answer();
    });
    const two = trunk('two', phone.hostPort(), { maxCalls: 1 });
    const plane = await start(trunk('one', first.hostPort), two);
    const waiting = plane.carrier.place(REQUEST, [two]);
    await expect.poll(() => calls.length).toBe(1);

    const { answered } = plane.carrier.place(REQUEST);
    await Promise.race([answered, pause(5_000)]);
    waiting.cancel();
    const leg = await answered;

    await leg.hangUp();
  }, 20_000);

  test('keeps to the calls per second of the second, and waits no longer than 2 s for them', async () => {
    first.script = answering(503);
    const rungAtMs: number[] = [];
    phone.onRinging((call) => {
      rungAtMs.push(performance.now());
      call.reject(486);
    });
    const two = trunk('two', phone.hostPort(), { callsPerSecond: 1 });
    const plane = await start(trunk('one', first.hostPort), two);

    const calls = [1, 2, 3, 4].map(() => plane.carrier.place(REQUEST).answered);
    const errors = await Promise.all(calls.map((answered) => answered.catch((why) => why)));

    const [at1 = 0, at2 = 0, at3 = 0] = rungAtMs;
    expect(errors.map((error) => error.sipStatus).sort()).toEqual([486, 486, 486, 503]);
    expect([at2 - at1 > 900, at3 - at2 > 900, rungAtMs.length]).toEqual([true, true, 3]);
  });

  test('tells the last failure when every trunk fails, after each was asked once', async () => {
    first.script = answering(503);
    let rings = 0;
    phone.onRinging((call) => {
      rings += 1;
      call.reject(503);
    });
    const plane = await start(trunk('one', first.hostPort), trunk('two', phone.hostPort()));

    const error: CarrierError = await plane.carrier.place(REQUEST).answered.catch((why) => why);

    expect(error).toMatchObject({ sipStatus: 503, refusedWith: 503 });
    expect(error.message).toContain('trunk "two"');
    expect([first.of('INVITE').length, rings]).toEqual([1, 1]);
  });

  test('tries a trunk whose OPTIONS are unanswered last', async () => {
    first.script = () => undefined;
    phone.onRinging((call) => void call.answer());
    const asked = { optionsIntervalSeconds: 5 };
    const plane = await start(trunk('one', first.hostPort, asked), trunk('two', phone.hostPort()));
    const order = () => plane.carrier.trunksFor(OURS).map(({ name }) => name);
    expect(order()).toEqual(['one', 'two']);

    await expect.poll(order, { timeout: 20_000, interval: 200 }).toEqual(['two', 'one']);
    const leg = await plane.carrier.place(REQUEST).answered;

    expect(plane.carrier.routeFor(OURS)).toMatchObject({ trunk: 'two', problem: undefined });
    expect(first.of('INVITE')).toEqual([]);
    await leg.hangUp();
  }, 40_000);
});
