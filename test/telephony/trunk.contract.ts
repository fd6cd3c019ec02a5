/** How every carrier treats its trunks: who may ring, who may be called, and who says the password. */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Phone, type RingingCall } from '../../examples/phone/phone.ts';
import type { Trunk } from '../../src/telephony/trunks/trunks.ts';
import { OURS, type Plane, type StartPlane, THEIRS, trunkTo } from './plane.ts';

const ACCOUNT = { username: 'joe', password: 'secret' };
const CHALLENGE = 'Digest realm="carrier, inc", nonce="n1", qop="auth"';
const REQUEST = { from: OURS, to: THEIRS, ringingTimeoutMs: 10_000 };

export function describeTrunks(name: string, startPlane: StartPlane): void {
  describe(name, () => {
    const planes: Plane[] = [];
    let phone: Phone;

    beforeEach(async () => {
      phone = new Phone({ number: THEIRS });
      await phone.start();
    });
    afterEach(async () => {
      await phone.stop();
      await Promise.all(planes.splice(0).map((plane) => plane.stop()));
    });

    const start = async (...trunks: Trunk[]) => {
      const plane = await startPlane(trunks);
      planes.push(plane);
      return plane;
    };
    const statusOfRinging = async (plane: Plane, headers = {}) => {
      const { invite } = await phone.dial(`sip:${OURS}@${plane.hostPort}`, { headers });
      const { response } = await invite.outcome;
      return { status: response.status, retryAfter: response.get('retry-after') };
    };

    test('Carrier refuses hosts that no trunk allows', async () => {
      const plane = await start(trunkTo('192.0.2.1', { allowedSources: ['192.0.2.1'] }));

      const { status } = await statusOfRinging(plane);

      expect(status).toBe(403);
      expect(plane.rings.count).toBe(0);
    });

    test('Carrier that drains refuses new calls and keeps those in progress', async () => {
      const plane = await start();
      const [call, incoming] = await Promise.all([
        phone.call(`sip:${OURS}@${plane.hostPort}`),
        plane.rings.next().then((incoming) => incoming.answer()),
      ]);

      plane.carrier.drain();
      const refused = await statusOfRinging(plane);

      expect(refused).toEqual({ status: 503, retryAfter: '30' });
      expect(call.dialog.state).toBe('confirmed');
      await incoming.hangUp();
    });

    test('Carrier keeps to the lines of a trunk, both ways together', async () => {
      const plane = await start(trunkTo(phone.hostPort(), { maxCalls: 1 }));
      const { invite } = await phone.dial(`sip:${OURS}@${plane.hostPort}`);
      const incoming = await plane.rings.next();

      const second = await statusOfRinging(plane);
      expect(() => plane.carrier.place(REQUEST)).toThrow('all lines are in use');
      incoming.reject(486);
      await invite.outcome;

      expect(second).toEqual({ status: 503, retryAfter: '30' });
      expect(() => plane.carrier.place(REQUEST).cancel()).not.toThrow();
    });

    test('Carrier calls from the numbers of its trunks alone', async () => {
      const plane = await start(trunkTo(phone.hostPort()));

      expect(plane.carrier.routeFor(OURS)).toMatchObject({ problem: undefined });
      expect(plane.carrier.routeFor(THEIRS)).toBeUndefined();
      expect(() => plane.carrier.place({ ...REQUEST, from: THEIRS })).toThrow(
        expect.objectContaining({ name: 'CarrierError', sipStatus: 404 }),
      );
    });

    test('Carrier trusts the asserted identity of a trunk alone, and withholds a private number', async () => {
      const asserted = { 'P-Asserted-Identity': '<sip:+15550109999@carrier.example>' };
      const fromOf = async (plane: Plane, more: object = {}) => {
        const headers = { ...asserted, ...more };
        const dialled = phone.dial(`sip:${OURS}@${plane.hostPort}`, { headers });
        const incoming = await plane.rings.next();
        incoming.reject(480);
        await (await dialled).invite.outcome;
        // One at a time: a real server would deal the calls out to both.
        await plane.stop();
        return incoming.from;
      };

      const untrusted = await fromOf(await start());
      const trusted = await fromOf(await start(trunkTo(phone.hostPort())));
      const secret = await fromOf(await start(trunkTo(phone.hostPort())), {
        Privacy: 'id;critical',
      });

      expect(secret).toBe(THEIRS);
      expect(untrusted).toBe(THEIRS);
      expect(trusted).toBe('+15550109999');
    });

    test.each([
      [407, 'MD5'],
      [401, 'SHA-256'],
    ] as const)('Carrier answers a %d with %s', async (status, algorithm) => {
      const plane = await start(trunkTo(phone.hostPort(), ACCOUNT));
      const proofs: boolean[] = [];
      phone.onRinging(
        challenge(status, algorithm, (call, isRight) => {
          proofs.push(isRight);
          void call.answer();
        }),
      );

      const leg = await plane.carrier.place(REQUEST).answered;
      await leg.hangUp();

      expect(proofs).toEqual([true]);
    });

    test('OutgoingCall fails when the password is wrong', async () => {
      const plane = await start(trunkTo(phone.hostPort(), { ...ACCOUNT, password: 'guess' }));
      let tries = 0;
      phone.onRinging(
        challenge(407, 'MD5', (call) => {
          tries += 1;
          call.reject(407, { 'Proxy-Authenticate': `${CHALLENGE}, algorithm=MD5` });
        }),
      );

      await expect(plane.carrier.place(REQUEST).answered).rejects.toMatchObject({ sipStatus: 407 });
      expect(tries).toBe(1);
    });

    test('OutgoingCall fails with 503 when no peer listens', async () => {
      const plane = await start(trunkTo('127.0.0.1:18999;transport=tcp'));

      await expect(plane.carrier.place(REQUEST).answered).rejects.toMatchObject({ sipStatus: 503 });
    });

    test('Carrier reports where it listens and how its trunks are', async () => {
      const plane = await start(trunkTo('192.0.2.1'));

      expect(plane.carrier.reports()).toEqual([
        {
          name: 'sip',
          isReady: true,
          state: `listening on udp ${plane.hostPort} and tcp ${plane.hostPort}`,
        },
        {
          name: 'trunk peer',
          isReady: true,
          state: 'calls go to 192.0.2.1, without registration',
        },
      ]);
    });
  });
}

/** A called party that asks for a password first, and says whether the answer to that is right. */
function challenge(
  status: 401 | 407,
  algorithm: 'MD5' | 'SHA-256',
  onAnswer: (call: RingingCall, isRight: boolean) => void,
): (call: RingingCall) => void {
  const [ask, answer] =
    status === 407
      ? ['Proxy-Authenticate', 'proxy-authorization']
      : ['WWW-Authenticate', 'authorization'];
  return (call) => {
    const credentials = call.request.get(answer);
    if (credentials !== undefined) return onAnswer(call, isProof(credentials, algorithm));
    call.reject(status, {
      [ask]: `${CHALLENGE}, algorithm=${algorithm}`,
    });
  };
}

/** @see RFC 7616 section 3.4.1 */
function isProof(credentials: string, algorithm: 'MD5' | 'SHA-256'): boolean {
  const field = (key: string) => new RegExp(`\\b${key}="?([^",]+)"?`).exec(credentials)?.[1] ?? '';
  const hash = (text: string) =>
    createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
      .update(text)
      .digest('hex');
  const user = hash(`${ACCOUNT.username}:carrier, inc:${ACCOUNT.password}`);
  const request = hash(`INVITE:${field('uri')}`);
  const proof = hash(`${user}:n1:${field('nc')}:${field('cnonce')}:auth:${request}`);
  return field('username') === ACCOUNT.username && field('response') === proof;
}
