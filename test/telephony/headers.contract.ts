/** What headers of calls carry in and out, over real SIP on any plane, hostile ones too. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../examples/phone/phone.ts';
import type { IncomingCall } from '../../src/telephony/carrier.ts';
import type { Trunk } from '../../src/telephony/trunks/trunks.ts';
import { OURS, type Plane, type StartPlane, THEIRS, trunkTo } from './plane.ts';

const REQUEST = { from: OURS, to: THEIRS, ringingTimeoutMs: 10_000 };
const OTHER = '+15550109999';

export function describeHeaders(name: string, startPlane: StartPlane): void {
  describe(name, () => {
    let plane: Plane | undefined;
    let phone: Phone;

    beforeEach(async () => {
      phone = new Phone({ number: THEIRS });
      await phone.start();
    });
    afterEach(async () => {
      await phone.stop();
      await plane?.stop();
      plane = undefined;
    });

    const start = async (fields: Partial<Trunk> = {}) => {
      plane = await startPlane([trunkTo(phone.hostPort(), fields)]);
      return plane;
    };
    const ringWith = async (headers: object): Promise<IncomingCall> => {
      const { hostPort, rings } = plane ?? (await start());
      const dialled = phone.dial(`sip:${OURS}@${hostPort}`, { headers: { ...headers } });
      const incoming = await rings.next();
      incoming.reject(480);
      await (await dialled).invite.outcome;
      return incoming;
    };

    test('IncomingCall has X- headers, User-to-User, Diversion and the carrier’s verdict on the number', async () => {
      const incoming = await ringWith({
        'P-Asserted-Identity': `<sip:${OTHER};verstat=TN-Validation-Passed@carrier.example>`,
        'X-Account-Id': '42',
        'User-to-User': '56a390f3;encoding=hex',
        Diversion: '<sip:+12025550124@carrier.example>;reason=no-answer',
      });

      expect(incoming.from).toBe(OTHER);
      expect(incoming.metadata).toEqual({
        sip: {
          headers: { 'x-account-id': '42' },
          userToUser: '56a390f3;encoding=hex',
          diversion: [{ number: '+12025550124', reason: 'no-answer' }],
          verstat: 'TN-Validation-Passed',
        },
      });
    });

    test.each([
      ['that the carrier has screened', { party: 'party=calling;screen=yes' }, OTHER],
      ['that it has not screened', { party: 'party=calling;screen=no' }, THEIRS],
      ['that is private', { party: 'party=calling;screen=yes;privacy=full' }, THEIRS],
      ['with Privacy', { party: 'screen=yes', Privacy: 'id' }, THEIRS],
    ])('Carrier reads Remote-Party-ID %s', async (_, { party, ...more }, from) => {
      const id = { 'Remote-Party-ID': `"Bob" <sip:${OTHER}@carrier.example>;${party}` };

      const incoming = await ringWith({ ...id, ...more });

      expect(incoming.from).toBe(from);
    });

    test.each([
      [
        'a name by sip and a number by tel',
        `"B, b" <sip:bob@carrier.example>, <tel:${OTHER}>`,
        OTHER,
      ],
      ['two numbers', `<sip:${OTHER}@carrier.example>, <tel:${OURS}>`, OTHER],
      ['a name alone', '<sip:bob@carrier.example>', THEIRS],
    ])('Carrier reads P-Asserted-Identity with %s', async (_, identity, from) => {
      const incoming = await ringWith({ 'P-Asserted-Identity': identity });

      expect(incoming.from).toBe(from);
    });

    test('Carrier places a call with the headers that it is given', async () => {
      const { carrier } = await start();
      const ringing = new Promise<Parameters<Parameters<Phone['onRinging']>[0]>[0]>((resolve) =>
        phone.onRinging(resolve),
      );
      const headers = { 'X-Customer': 'c-1029; a=b, c', 'User-to-User': '00;encoding=hex' };

      const outgoing = carrier.place({ ...REQUEST, headers });
      const { request, reject } = await ringing;
      reject(486);
      await expect(outgoing.answered).rejects.toMatchObject({ sipStatus: 486 });

      expect(request.get('x-customer')).toBe('c-1029; a=b, c');
      expect(request.get('user-to-user')).toBe('00;encoding=hex');
      expect(request.get('from')).toContain(OURS);
    });

    test.each([
      ['pai', true, false],
      ['rpid', true, true],
      ['from', false, false],
    ] as const)('Carrier names the calling number as the trunk wants it: %s', async (callerIdHeader, hasPai, hasRpid) => {
      const { carrier } = await start({ callerIdHeader });
      const ringing = new Promise<Parameters<Parameters<Phone['onRinging']>[0]>[0]>((resolve) =>
        phone.onRinging(resolve),
      );

      const outgoing = carrier.place(REQUEST);
      const { request, reject } = await ringing;
      reject(486);
      await expect(outgoing.answered).rejects.toMatchObject({ sipStatus: 486 });

      const caller = `<sip:${OURS}@127.0.0.1>`;
      expect(request.get('from')).toContain(caller);
      expect(request.get('p-asserted-identity')).toBe(hasPai ? caller : undefined);
      expect(request.get('remote-party-id')).toBe(
        hasRpid ? `${caller};party=calling;privacy=off;screen=yes` : undefined,
      );
    });

    test.each([
      ['a folded line', 'X-Evil: a\r\n X-Injected: b\r\n', 'latin1'],
      ['NUL', 'X-Evil: a\0b\r\n', 'latin1'],
      ['10 kB', `X-Evil: ${'a'.repeat(10_000)}\r\n`, 'latin1'],
      [
        '200 headers',
        Array.from({ length: 200 }, (_, at) => `X-H${at}: ${at}\r\n`).join(''),
        'latin1',
      ],
      ['what is no UTF-8', 'X-Evil: \xff\xfe\xc3(\r\n', 'latin1'],
      ['a key of objects', 'X-__proto__: 1\r\nDiversion: <sip:__proto__@a>\r\n', 'latin1'],
    ] as const)('Carrier takes or refuses an INVITE with %s, keeps little of it, and goes on', async (_, lines, encoding) => {
      const { hostPort, rings } = await start();
      const answers = await sendInvite(hostPort, Buffer.from(lines, encoding));

      const status = await answers.final(() => rings.count > 0 && void rejectNext(rings));
      const next = await ringWith({ 'X-Good': '1' });

      expect([400, 413, 480, 513]).toContain(status);
      expect(next.metadata).toEqual({ sip: { headers: { 'x-good': '1' } } });
      const sizes = answers.kept.map(({ metadata }) => JSON.stringify(metadata).length);
      expect(Math.max(0, ...sizes)).toBeLessThan(1000);
      expect(JSON.stringify(answers.kept.map(({ metadata }) => metadata))).not.toMatch(
        /"x-injected"|\\u0000/,
      );

      async function rejectNext(calls: Plane['rings']): Promise<void> {
        const incoming = await calls.next();
        answers.kept.push(incoming);
        incoming.reject(480);
      }
    });
  });
}

/** Sends octets that no user agent would send, and waits for the final response. */
async function sendInvite(hostPort: string, lines: Buffer) {
  const [host = '', port = ''] = hostPort.split(':');
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => {
    socket.close();
  });
  let status = 0;
  socket.on('message', (bytes) => {
    const one = Number(bytes.toString('latin1', 8, 11));
    if (one >= 200) status = one;
  });
  const us = `127.0.0.1:${socket.address().port}`;
  const sdp = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n';
  const media = 'm=audio 40002 RTP/AVP 0\r\n';
  const head = [
    `INVITE sip:${OURS}@${hostPort} SIP/2.0`,
    `Via: SIP/2.0/UDP ${us};branch=z9hG4bK${socket.address().port}`,
    ...[`From: <sip:${THEIRS}@${us}>;tag=1`, `To: <sip:${OURS}@${hostPort}>`],
    ...[`Call-ID: hostile@${us}`, 'CSeq: 1 INVITE', `Contact: <sip:${us}>`, 'Max-Forwards: 70'],
    'Content-Type: application/sdp\r\n',
  ].join('\r\n');
  const end = `Content-Length: ${sdp.length + media.length}\r\n\r\n${sdp}${media}`;
  socket.send(Buffer.concat([Buffer.from(head), lines, Buffer.from(end)]), Number(port), host);
  const kept: IncomingCall[] = [];
  return {
    kept,
    final: async (look: () => unknown) => {
      await expect
        .poll(
          () => {
            if (kept.length === 0) look();
            return status;
          },
          { timeout: 5_000 },
        )
        .toBeGreaterThan(0);
      return status;
    },
  };
}
