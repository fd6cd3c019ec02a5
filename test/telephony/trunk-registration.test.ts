import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import type {
  SrfCallback,
  SrfClient,
  SrfRequestOptions,
  SrfResponse,
  SrfSentRequest,
} from '../../src/telephony/drachtio/carrier/srf.ts';
import { TrunkRegistration } from '../../src/telephony/drachtio/carrier/trunk-registration.ts';
import { parseTrunks } from '../../src/telephony/trunks/trunks.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { request, response, settle } from './scripted-srf.ts';

const TRUNK = { name: 'acme', proxy: '192.0.2.1', username: 'joe', password: 'secret' };

/** A registrar that answers with what the test has put in line, and with silence after that. */
function openRegistration(...answers: readonly (SrfResponse | Promise<SrfResponse>)[]) {
  const clock = new FakeClock();
  const contact = { hostPort: Promise.resolve('192.0.2.9:5060') };
  const sent: SrfRequestOptions[] = [];
  const srf = {
    request(_uri: string, options: SrfRequestOptions, callback: SrfCallback<SrfSentRequest>) {
      const answer = answers[sent.length];
      sent.push(options);
      callback(undefined, {
        ...request({ headers: { Contact: '<sip:joe@203.0.113.10:5060>' } }),
        cancel: () => undefined,
        on: (_event, listener) => {
          if (answer instanceof Promise) void answer.then(listener);
          else if (answer !== undefined) listener(answer);
        },
      });
    },
  } as unknown as SrfClient;
  const [trunk] = parseTrunks(JSON.stringify([{ ...TRUNK, register: true }]));
  if (trunk === undefined) throw new Error('Cannot set up: no trunk');
  const registration = new TrunkRegistration({
    srf,
    trunk,
    contactHostPort: () => contact.hostPort,
    newCallId: () => 'call-1',
    random: () => 0.5,
    clock,
    log: silentLogger,
    answerChallenge: () => ({ name: 'Authorization', value: 'Digest' }),
  });
  return { clock, sent, registration, contact };
}

test('TrunkRegistration registers, and again before the time that its Contact, as it went out, was granted', async () => {
  const contact = '<sip:other@192.0.2.9:5060>;expires=900, <sip:joe@203.0.113.10:5060>;expires=100';
  const { clock, sent, registration } = openRegistration(
    response(200, { headers: { Contact: contact } }),
    response(200),
  );

  registration.start();
  await settle();
  const sentAtFirst = sent.length;
  clock.advance(59_999);
  await settle();
  const sentBefore = sent.length;
  clock.advance(1);
  await settle();

  expect([sentAtFirst, sentBefore, sent.length]).toEqual([1, 1, 2]);
  expect(sent[0]?.headers).toMatchObject({
    Contact: '<sip:joe@192.0.2.9:5060>',
    Expires: '300',
    CSeq: '10 REGISTER',
  });
  expect(sent[1]?.headers).toMatchObject({ 'Call-ID': 'call-1', CSeq: '20 REGISTER' });
  expect(registration.report()).toEqual({
    name: 'trunk acme',
    isReady: true,
    state: 'registered with 192.0.2.1',
  });
});

test('TrunkRegistration gives in when the carrier wants longer', async () => {
  const { sent, registration } = openRegistration(
    response(423, { headers: { 'Min-Expires': '1800' } }),
    response(200),
  );

  registration.start();
  await settle();

  expect(sent.map(({ headers }) => headers?.Expires)).toEqual(['300', '1800']);
});

test('TrunkRegistration waits twice as long after each refusal', async () => {
  const { clock, sent, registration } = openRegistration(
    response(403),
    response(403),
    response(503, { headers: { 'Retry-After': '60' } }),
  );
  const sentAfter: number[] = [];

  registration.start();
  for (const waitMs of [0, 4_999, 1, 9_999, 1, 59_999, 1]) {
    clock.advance(waitMs);
    await settle();
    sentAfter.push(sent.length);
  }

  expect(sentAfter).toEqual([1, 1, 2, 2, 3, 3, 4]);
  expect(registration.report()).toMatchObject({
    isReady: false,
    state: 'not registered with 192.0.2.1: the carrier answered 503',
  });
});

test('TrunkRegistration retries when the registrar does not answer', async () => {
  const { clock, sent, registration } = openRegistration();

  registration.start();
  await settle();
  clock.advance(33_000);
  await settle();
  clock.advance(5_000);
  await settle();

  expect(sent).toHaveLength(2);
});

test('TrunkRegistration takes its registration back when it stops', async () => {
  const { clock, sent, registration } = openRegistration(response(200), response(200));
  registration.start();
  await settle();

  await registration.stop();
  await registration.stop();
  clock.advance(1_000_000);

  expect(sent.map(({ headers }) => headers?.Expires)).toEqual(['300', '0']);
  expect(clock.waiting).toBe(0);
});

test('TrunkRegistration that stops while it registers waits for the answer before it takes it back', async () => {
  const answer = Promise.withResolvers<SrfResponse>();
  const { clock, sent, registration } = openRegistration(answer.promise, response(200));
  registration.start();
  await settle();
  let isOver = false;

  const stopped = registration.stop({ isReplaced: true }).then(() => {
    isOver = true;
  });
  clock.advance(1_000);
  await settle();
  const wasOverEarly = isOver;
  answer.resolve(response(200));
  await stopped;

  expect(wasOverEarly).toBe(false);
  expect(sent.map(({ headers }) => headers?.Expires)).toEqual(['300', '0']);
});

test.each([
  [true, ['300']],
  [false, ['300', '0']],
])('TrunkRegistration waits 2 s for a late answer; replaced: %s', async (isReplaced, expected) => {
  const answer = Promise.withResolvers<SrfResponse>();
  const { clock, sent, registration } = openRegistration(answer.promise, response(200));
  registration.start();
  await settle();

  const stopped = registration.stop({ isReplaced });
  clock.advance(2_000);
  await stopped;
  answer.resolve(response(200));
  await settle();

  expect(sent.map(({ headers }) => headers?.Expires)).toEqual(expected);
});

test.each([
  [true, ['300', '0']],
  [false, ['300', '0', '0']],
])('TrunkRegistration that was replaced answers no challenge to its goodbye after 2 s; replaced: %s', async (isReplaced, expected) => {
  const challenge = Promise.withResolvers<SrfResponse>();
  const { clock, sent, registration } = openRegistration(response(200), challenge.promise);
  registration.start();
  await settle();

  const stopped = registration.stop({ isReplaced });
  await settle();
  clock.advance(2_000);
  await stopped;
  challenge.resolve(response(401));
  await settle();

  expect(sent.map(({ headers }) => headers?.Expires)).toEqual(expected);
});

test('TrunkRegistration that stops while our address is looked up does not register', async () => {
  const { sent, registration, contact } = openRegistration(response(200));
  const hostPort = Promise.withResolvers<string>();
  contact.hostPort = hostPort.promise;
  registration.start();

  const stopped = registration.stop();
  hostPort.resolve('192.0.2.9:5060');
  await stopped;

  expect(sent).toEqual([]);
});

test('TrunkRegistration tells since when it is asked for, granted until when, and why refused', async () => {
  const { clock, registration } = openRegistration(
    response(403),
    response(200, { headers: { Expires: '100' } }),
    response(503),
  );
  const states: string[] = [];
  const look = () => states.push(registration.status().state);

  look();
  registration.start();
  look();
  await settle();
  look();
  clock.advance(5_000);
  await settle();
  look();
  const { expiresAt } = registration.status();
  const expiresInMs = (expiresAt?.getTime() ?? 0) - clock.now().getTime();
  clock.advance(60_000);
  await settle();
  const refused = registration.status();
  registration.suspend('the server is away');
  look();

  expect(states).toEqual(['unregistered', 'registering', 'failed', 'ready', 'unregistered']);
  expect(expiresInMs).toBe(100_000);
  expect(refused).toEqual({
    state: 'failed',
    detail: 'not registered with 192.0.2.1: the carrier answered 503',
    expiresAt: null,
  });
});

test.each([
  ['long after it', 40_000, 1_000],
  ['soon after it', 5_000, 30_000],
])('TrunkRegistration whose connection is lost %s registers again, not at once', async (_when, lostMs, waitMs) => {
  const { clock, sent, registration } = openRegistration(response(200), response(200));
  registration.start();
  await settle();
  clock.advance(lostMs);

  const isOurs = [registration.connectionLost('call-2'), registration.connectionLost('call-1')];
  await settle();
  clock.advance(waitMs - 1);
  await settle();
  const before = sent.length;
  clock.advance(1);
  await settle();

  expect([isOurs, before, sent.length]).toEqual([[false, true], 1, 2]);
  expect(registration.status().state).toBe('ready');
});

test('TrunkRegistration waits longer each time for a carrier that closes every connection', async () => {
  const { clock, sent, registration } = openRegistration(
    ...Array.from({ length: 9 }, () => response(200)),
  );
  const sentAtMs: number[] = [];
  registration.start();
  await settle();

  for (let second = 0; second < 700; second += 1) {
    if (sent.length > sentAtMs.length) {
      sentAtMs.push(clock.nowMs());
      registration.connectionLost('call-1');
      await settle();
    }
    clock.advance(1000);
    await settle();
  }

  expect(sentAtMs.map((atMs, index) => atMs - (sentAtMs[index - 1] ?? atMs))).toEqual([
    0, 30_000, 60_000, 120_000, 240_000,
  ]);
});

test('TrunkRegistration that is stopped does not register when its connection is lost', async () => {
  const { clock, sent, registration } = openRegistration(response(200), response(200));
  registration.start();
  await settle();
  await registration.stop();
  const before = sent.length;

  registration.connectionLost('call-1');
  await settle();
  clock.advance(600_000);
  await settle();

  expect(sent.length).toBe(before);
});
