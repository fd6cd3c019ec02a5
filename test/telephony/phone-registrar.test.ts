/** Telephones that register: challenges, wrong and repeated answers, guessing, and the table of contacts. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { credentialsFrom } from '../../src/telephony/phones/digest-authority.ts';
import {
  Bindings,
  type PhoneAnswer,
  PhoneRegistrar,
} from '../../src/telephony/phones/phone-registrar.ts';
import { parsePhones } from '../../src/telephony/phones/phones.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const HERE = '192.168.1.9';
const PHONES = parsePhones(
  JSON.stringify([
    { name: 'desk', password: 'secret-of-desk' },
    {
      name: 'lab',
      password: 'secret-of-lab',
      algorithm: 'SHA-256',
      allowedSources: ['10.1.0.0/16'],
    },
  ]),
  'phones.json',
);

interface Sent {
  readonly name?: string;
  readonly password?: string;
  readonly source?: string;
  readonly nc?: string;
  readonly challenge?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

function openWorld() {
  const clock = new FakeClock();
  const logged: unknown[] = [];
  const log = { ...silentLogger, info: (...line: unknown[]) => logged.push(line) } as never;
  const registrar = new PhoneRegistrar({ phones: PHONES, clock, log });
  let sequence = 0;
  const send = ({ source = HERE, name = 'desk', challenge, ...more }: Sent): PhoneAnswer => {
    sequence += 1;
    const headers: Record<string, string> = {
      ...{
        from: `<sip:${name}@pbx>;tag=1`,
        to: `<sip:${name}@pbx>`,
        contact: '<sip:desk@1.2.3.4>',
      },
      ...{ 'call-id': 'one', cseq: `${sequence} REGISTER` },
      ...(challenge && { authorization: authorization(challenge, { name, ...more }) }),
      ...more.headers,
    };
    const get = (header: string) => headers[header.toLowerCase()];
    return registrar.register({ method: 'REGISTER', source_address: source, get });
  };
  const challengeOf = (sent: Sent = {}) => send(sent).headers['WWW-Authenticate'];
  return { clock, logged, registrar, send, challengeOf };
}

function authorization(challenge: string, sent: Sent): string {
  const { name = 'desk', password = `secret-of-${name}`, nc = '00000001' } = sent;
  const nonce = /nonce="([^"]+)"/.exec(challenge)?.[1] ?? '';
  const algorithm = /algorithm=([\w-]+)/.exec(challenge)?.[1] ?? '';
  const hash = (text: string) =>
    createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
      .update(text)
      .digest('hex');
  const two = hash('REGISTER:sip:pbx');
  const response = hash(`${hash(`${name}:offhook:${password}`)}:${nonce}:${nc}:c1:auth:${two}`);
  return `Digest username="${name}", realm="offhook", nonce="${nonce}", uri="sip:pbx", response="${response}", algorithm=${algorithm}, cnonce="c1", qop=auth, nc=${nc}`;
}

describe('PhoneRegistrar', () => {
  test('challenges, and registers a telephone that knows its password', () => {
    const { registrar, send, challengeOf } = openWorld();

    const challenge = challengeOf();
    const { status, headers } = send({ challenge });

    expect(challenge).toMatch(/^Digest realm="offhook", nonce="[^"]+", algorithm=MD5, qop="auth"$/);
    expect(status).toBe(200);
    expect(headers.Contact).toBe('<sip:desk@1.2.3.4>;expires=300');
    expect(registrar.contactsOf('desk')).toEqual(['sip:desk@1.2.3.4']);
  });

  test('challenges a telephone with the algorithm of its settings, from its own network alone', () => {
    const { send, challengeOf } = openWorld();
    const lab = { name: 'lab', source: '10.1.2.3' };

    const challenge = challengeOf(lab);

    expect(challenge).toContain('algorithm=SHA-256');
    expect(send({ ...lab, challenge }).status).toBe(200);
    const elsewhere = { ...lab, source: HERE };
    expect(send({ ...elsewhere, challenge: challengeOf(elsewhere) }).status).toBe(403);
  });

  test.each([
    ['a wrong password', { password: 'guess' }],
    ['an unknown name', { name: 'unknown', password: '' }],
  ])('refuses %s', (_, wrong) => {
    const { registrar, send, challengeOf } = openWorld();

    const { status } = send({ ...wrong, challenge: challengeOf(wrong) });

    expect(status).toBe(403);
    expect(registrar.contactsOf('desk')).toEqual([]);
  });

  test('logs a telephone that comes, and that leaves', () => {
    const { logged, send, challengeOf } = openWorld();

    send({ challenge: challengeOf() });
    send({ challenge: challengeOf() });
    send({ challenge: challengeOf(), headers: { expires: '0' } });

    expect(logged).toEqual([
      [{ phone: 'desk', contacts: 1 }, 'a telephone registered'],
      [{ phone: 'desk', contacts: 0 }, 'a telephone unregistered'],
    ]);
  });

  test('refuses a telephone that registers another', () => {
    const { send, challengeOf } = openWorld();

    const { status } = send({ challenge: challengeOf(), headers: { to: '<sip:lab@pbx>' } });

    expect(status).toBe(403);
  });

  test('asks again where an answer is repeated, and takes the next nonce count', () => {
    const { send, challengeOf } = openWorld();
    const challenge = challengeOf();
    send({ challenge, nc: '00000002' });

    const repeated = send({ challenge, nc: '00000002' });
    const earlier = send({ challenge, nc: '00000001' });
    const next = send({ challenge, nc: '00000003' });

    expect([repeated.status, earlier.status, next.status]).toEqual([401, 401, 200]);
    expect(repeated.headers['WWW-Authenticate']).toContain('stale=true');
  });

  test.each([
    ['a nonce of another source', { source: '192.168.1.10' }, 0],
    ['a nonce of five minutes ago', {}, 300_000],
  ])('asks again, and counts no guess, for %s', (_, other, laterMs) => {
    const { clock, send, challengeOf } = openWorld();
    const challenge = challengeOf();
    clock.advance(laterMs);

    const { status, headers } = send({ ...other, challenge });

    expect(status).toBe(401);
    expect(headers['WWW-Authenticate']).toContain('stale=true');
  });

  test('challenges a forged nonce again', () => {
    const { send } = openWorld();

    const { status } = send({ challenge: 'Digest nonce="zzzzzz.00.00", algorithm=MD5' });

    expect(status).toBe(401);
  });

  test('makes a source that guesses wait longer and longer, and then does not answer it', () => {
    const { clock, registrar, send, challengeOf } = openWorld();
    const guess = () => send({ password: 'guess', challenge: challengeOf() });

    for (let tries = 0; tries < 6; tries += 1) guess();
    const refused = send({});
    clock.advance(2_000);
    guess();
    const longer = send({});
    clock.advance(4_000);
    guess();
    const isServed = registrar.serves(HERE);
    clock.advance(8_000);

    expect([refused.status, refused.headers['Retry-After']]).toEqual([403, '2']);
    expect(longer.headers['Retry-After']).toBe('4');
    expect([isServed, registrar.serves('192.168.1.10'), registrar.serves(HERE)]).toEqual([
      ...[false, true, true],
    ]);
    expect(send({ challenge: challengeOf() }).status).toBe(200);
  });

  test('lets a source go on guessing no faster for a password that it knows', () => {
    const { clock, send, challengeOf } = openWorld();
    const guess = () => send({ password: 'guess', challenge: challengeOf() });
    const succeed = () => send({ challenge: challengeOf() });
    const fiveAndOne = () => [guess(), guess(), guess(), guess(), guess(), succeed()].length;

    fiveAndOne();
    fiveAndOne();
    guess();
    const soon = succeed();
    clock.advance(600_000);
    const later = succeed();
    fiveAndOne();
    const again = succeed();

    expect([soon.status, later.status, again.status]).toEqual([403, 200, 200]);
  });

  test('counts no guesses that come from a forged source, which hears no challenge', () => {
    const { send, challengeOf } = openWorld();
    const heardElsewhere = challengeOf({ source: '192.168.1.10' });

    for (let tries = 0; tries < 10; tries += 1) {
      send({ password: 'guess', challenge: heardElsewhere });
      send({ password: 'guess', name: 'ghost', challenge: 'Digest nonce="zz.00.00"' });
    }
    const { status } = send({ challenge: challengeOf() });

    expect(status).toBe(200);
  });

  test('does not answer a source that goes on in its wait, for ten seconds', () => {
    const { clock, registrar, send, challengeOf } = openWorld();
    for (let tries = 0; tries < 7; tries += 1) {
      clock.advance(20_000);
      send({ password: 'guess', challenge: challengeOf() });
    }

    for (let asked = 0; asked < 40; asked += 1) send({});

    expect(registrar.serves(HERE)).toBe(false);
  });

  test('does not answer a source that asks for challenges alone, for ten seconds', () => {
    const { clock, registrar, send } = openWorld();

    for (let asked = 0; asked < 40; asked += 1) send({});
    const isServed = registrar.serves(HERE);
    clock.advance(10_000);

    expect([isServed, registrar.serves(HERE)]).toEqual([false, true]);
  });
});

test('credentialsFrom reads a long name without a value once, not once for each letter', () => {
  const startedAt = process.cpuUsage();

  const credentials = credentialsFrom(`Digest ${'a'.repeat(100_000)}`);

  expect(credentials).toBeUndefined();
  expect(process.cpuUsage(startedAt).user / 1000).toBeLessThan(2_000);
});

describe('Bindings', () => {
  const request = (contact: string, more: object = {}) => ({
    ...{ contact, expires: '', callId: 'one', sequence: 1 },
    ...more,
  });

  test.each([
    ['<sip:a@1.2.3.4:5080;transport=tcp>', '', '<sip:a@1.2.3.4:5080;transport=tcp>;expires=300'],
    ['sip:a@1.2.3.4;expires=90', '', '<sip:a@1.2.3.4>;expires=90'],
    [
      '"A, B" <sip:a@1.2.3.4>;+sip.instance="<urn:uuid:1>";expires=90',
      '',
      '<sip:a@1.2.3.4>;expires=90',
    ],
    ['<sip:a@1.2.3.4>;expires=90;+sip.instance="<urn:uuid:1>"', '', '<sip:a@1.2.3.4>;expires=90'],
    ['<sip:a@1.2.3.4>', '99999', '<sip:a@1.2.3.4>;expires=3600'],
    ['<sip:a@1>, <sip:b@1>;expires=60', '120', '<sip:a@1>;expires=120, <sip:b@1>;expires=60'],
  ])('registers %s with Expires "%s"', (contact, expires, answered) => {
    const bindings = new Bindings(new FakeClock());

    expect(bindings.register('desk', request(contact, { expires }))).toEqual({
      status: 200,
      headers: { Contact: answered },
    });
  });

  test('forgets a contact at its end, at Expires 0, and all of them at a star', () => {
    const clock = new FakeClock();
    const bindings = new Bindings(clock);
    bindings.register('desk', request('<sip:a@1>;expires=60, <sip:b@1>, <sip:c@1>'));

    clock.advance(60_000);
    const later = bindings.contactsOf('desk');
    bindings.register('desk', request('<sip:b@1>;expires=0', { sequence: 2 }));
    const fewer = bindings.contactsOf('desk');
    const { status } = bindings.register('desk', request('*', { expires: '0', sequence: 3 }));

    expect(later).toEqual(['sip:b@1', 'sip:c@1']);
    expect(fewer).toEqual(['sip:c@1']);
    expect([status, bindings.contactsOf('desk')]).toEqual([200, []]);
  });

  test.each([
    ['a time below a minute', request('<sip:a@1>;expires=30', { sequence: 9 }), 423],
    ['a star without Expires 0', request('*', { sequence: 9 }), 400],
    ['what is no SIP address', request('<tel:+1>', { sequence: 9 }), 400],
    ['an Expires that is no number', request('<sip:a@1>', { expires: 'x', sequence: 9 }), 400],
    ['10 kB', request(`<sip:${'a'.repeat(10_000)}@1>`, { sequence: 9 }), 400],
    [
      'six contacts',
      request([1, 2, 3, 4, 5, 6].map((n) => `<sip:a${n}@1>`).join(), { sequence: 9 }),
      403,
    ],
    ['a CSeq that was used', request('<sip:other@1>'), 500],
  ])('refuses %s, and changes nothing', (_, wrong, status) => {
    const bindings = new Bindings(new FakeClock());
    bindings.register('desk', request('<sip:first@1>'));

    expect(bindings.register('desk', wrong).status).toBe(status);
    expect(bindings.contactsOf('desk')).toEqual(['sip:first@1']);
  });

  test('tells its contacts to a REGISTER without Contact', () => {
    const bindings = new Bindings(new FakeClock());
    bindings.register('desk', request('<sip:a@1>'));

    expect(bindings.register('desk', request('')).headers.Contact).toBe('<sip:a@1>;expires=300');
  });
});
