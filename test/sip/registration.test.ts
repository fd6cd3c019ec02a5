/** Registration against a small registrar of our own, with a clock that the test turns. */
import { expect, test } from 'vitest';
import type { SipMessage } from '../../src/sip/message/message.ts';
import { Tokens } from '../../src/sip/message/tokens.ts';
import type { OutgoingRequest } from '../../src/sip/outgoing.ts';
import { Registration } from '../../src/sip/registration.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeFlow, request, responseTo } from './messages.ts';
import { next } from './user-agents.ts';

const CREDENTIALS = { username: 'trunk', password: 'secret' };

/** Answers REGISTER as the test says, without a network: `answer` is given what would be sent. */
class Registrar {
  readonly received: SipMessage[] = [];
  readonly #answer: (request: SipMessage) => SipMessage;

  constructor(answer: (request: SipMessage) => SipMessage) {
    this.#answer = answer;
  }

  request = async (options: OutgoingRequest): Promise<SipMessage> => {
    const sent = request(
      'REGISTER',
      {
        From: options.from ?? '',
        To: options.to ?? '',
        'Call-ID': options.callId ?? '',
        CSeq: `${options.sequence} REGISTER`,
        Contact: '<sip:trunk@192.0.2.2:5060>',
        Expires: String(options.headers?.Expires),
      },
      options.uri,
    );
    this.received.push(sent);
    options.onSent?.(sent, new FakeFlow());
    return this.#answer(sent);
  };

  get expires(): string[] {
    return this.received.map((request) => request.get('expires') ?? '');
  }
}

function world(answer: (request: SipMessage) => SipMessage) {
  const clock = new FakeClock();
  const registrar = new Registrar(answer);
  const registration = new Registration({
    userAgent: registrar,
    clock,
    registrar: 'sip:registrar.example.com',
    addressOfRecord: 'sip:trunk@registrar.example.com',
    credentials: CREDENTIALS,
    tokens: new Tokens((count) => new Uint8Array(count)),
  });
  return { clock, registrar, registration };
}

test('Registration refreshes well before what the registrar granted', async () => {
  const granted = '<sip:other@192.0.2.9>;expires=9, <sip:trunk@192.0.2.2:5060>;expires=300';
  const { clock, registrar, registration } = world((request) =>
    responseTo(request, 200, { Contact: granted, Expires: '7' }),
  );

  registration.start();
  const first = await next<[{ expiresMs: number; nextMs: number }]>(registration, 'registered');
  clock.advance(224_999);
  const countBefore = registrar.received.length;
  clock.advance(1);
  await next(registration, 'registered');

  expect(first).toEqual([{ expiresMs: 300_000, nextMs: 225_000 }]);
  expect(countBefore).toBe(1);
  expect(registrar.received.map((request) => request.cseq.seq)).toEqual([1, 2]);
  expect(new Set(registrar.received.map(({ callId }) => callId)).size).toBe(1);
});

test('Registration asks for longer when the registrar finds it too brief', async () => {
  const { registrar, registration } = world((request) =>
    Number(request.get('expires')) < 3600
      ? responseTo(request, 423, { 'Min-Expires': '3600' })
      : responseTo(request, 200),
  );

  registration.start();
  await next(registration, 'registered');

  expect(registrar.expires).toEqual(['600', '3600']);
});

test('Registration gives up raising for a registrar that is never content', async () => {
  const { registrar, registration } = world((request) =>
    responseTo(request, 423, { 'Min-Expires': String(Number(request.get('expires')) * 2) }),
  );

  registration.start();
  await next(registration, 'failed');

  expect(registrar.expires).toEqual(['600', '1200', '2400']);
});

test('Registration waits longer after each failure, half an hour at most', async () => {
  const { clock, registration } = world((request) => responseTo(request, 503));
  const waitsMs: number[] = [];
  registration.on('failed', ({ nextMs }) => waitsMs.push(nextMs));

  registration.start();
  for (let failures = 1; failures <= 8; failures++) {
    await next(registration, 'failed');
    clock.advance(waitsMs.at(-1) ?? 0);
  }

  expect(waitsMs).toEqual([15, 30, 60, 120, 240, 480, 900, 900].map((seconds) => seconds * 1000));
});

test('Registration.stop takes the registration back, and does so once', async () => {
  const { clock, registrar, registration } = world((request) => responseTo(request, 200));
  registration.start();
  await next(registration, 'registered');

  await Promise.all([registration.stop(), registration.stop()]);

  expect(registrar.expires).toEqual(['600', '0']);
  expect(registration.isRegistered).toBe(false);
  expect(clock.waiting).toBe(0);
});

test('Registration.stop does not wait for a registrar that is silent', async () => {
  const { clock, registrar, registration } = world((request) => responseTo(request, 200));
  registration.start();
  await next(registration, 'registered');
  registrar.request = () => new Promise(() => undefined);

  const stopped = registration.stop();
  await Promise.resolve();
  clock.advance(2000);

  expect(await stopped).toBeUndefined();
});

test('Registration refuses an address that nobody can register', () => {
  const options = {
    clock: new FakeClock(),
    credentials: CREDENTIALS,
    userAgent: new Registrar((r) => r),
  };

  expect(
    () => new Registration({ ...options, registrar: 'nowhere', addressOfRecord: 'sip:a@b' }),
  ).toThrow('Bad URI');
});

/** A registrar that gives these answers, one after the other, and the last one from then on. */
function answers(...given: readonly (readonly [number, Readonly<Record<string, string>>])[]) {
  let count = 0;
  return (sent: SipMessage) => {
    const [status, headers] = given[Math.min(count, given.length - 1)] ?? [200, {}];
    count += 1;
    return responseTo(sent, status, headers);
  };
}

test.each([
  ['its own Contact', { Contact: '<sip:trunk@192.0.2.2:5060>;expires=300', Expires: '900' }, 300],
  [
    'Expires where our Contact says nothing',
    { Contact: '<sip:trunk@192.0.2.2:5060>', Expires: '900' },
    900,
  ],
  [
    'Expires where our Contact is not among them',
    { Contact: '<sip:x@y>;expires=300', Expires: '900' },
    900,
  ],
  ['the wish where nothing is granted', {}, 600],
  ['the wish where nothing at all is granted', { Expires: '0' }, 600],
])('Registration goes by %s', async (_, headers, expiresSeconds) => {
  const { registration } = world(answers([200, headers]));
  const registered = next<[{ expiresMs: number; nextMs: number }]>(registration, 'registered');

  registration.start();
  const [{ expiresMs, nextMs }] = await registered;

  expect(expiresMs).toBe(expiresSeconds * 1000);
  // Without chance: three quarters of it.
  expect(nextMs).toBe(0.75 * expiresMs);
});

test('Registration refreshes no oftener than 10 s would have it, however little was granted', async () => {
  const { registration } = world(answers([200, { Expires: '5' }]));
  const registered = next<[{ nextMs: number }]>(registration, 'registered');

  registration.start();
  const [{ nextMs }] = await registered;

  expect(nextMs).toBe(0.75 * 10_000);
});

test('Registration takes a redirection for a failure', async () => {
  const { registration } = world(answers([300, {}]));
  const failed = next<[{ response: SipMessage }]>(registration, 'failed');

  registration.start();
  const [{ response }] = await failed;

  expect(response.status).toBe(300);
});

test('Registration waits as little after a failure as ever, once it has been registered in between', async () => {
  const { clock, registration } = world(
    answers([500, {}], [500, {}], [200, { Expires: '600' }], [500, {}]),
  );
  const waits: number[] = [];
  registration.on('failed', ({ nextMs }) => waits.push(nextMs));
  registration.start();

  for (let step = 0; step < 200 && waits.length < 3; step++) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(30_000);
  }

  expect(waits).toHaveLength(3);
  expect(waits[1]).toBe(2 * (waits[0] ?? 0));
  expect(waits[2]).toBe(waits[0]);
});

test('Registration that has been lost is not taken back', async () => {
  const { clock, registrar, registration } = world(answers([200, { Expires: '600' }], [500, {}]));
  const failed = next(registration, 'failed');
  registration.start();
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(600_000);
  await failed;

  await registration.stop();

  expect(registrar.expires).not.toContain('0');
});

test('Registration does not ask again for what the registrar finds too brief and is longer already', async () => {
  const { registrar, registration } = world(answers([423, { 'Min-Expires': '600' }]));
  const failed = next(registration, 'failed');

  registration.start();
  await failed;

  expect(registrar.received).toHaveLength(1);
});
