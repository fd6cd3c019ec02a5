/** SIP MESSAGE over a trunk at the wire: in both directions, with loss, refusals and strangers. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TRANSACTION_MS } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import type { TextMessage } from '../../src/telephony/carrier.ts';
import type { DrachtioCarrierOptions } from '../../src/telephony/drachtio/carrier/drachtio-carrier.ts';
import { SourceAcl } from '../../src/telephony/drachtio/carrier/source-acl.ts';
import type {
  SrfCallback,
  SrfClient,
  SrfSentRequest,
} from '../../src/telephony/drachtio/carrier/srf.ts';
import { TextMessages } from '../../src/telephony/drachtio/carrier/text-messages.ts';
import { TrunkTable } from '../../src/telephony/trunks/trunk-table.ts';
import type { Trunk } from '../../src/telephony/trunks/trunks.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { startSilentPlane } from './embedded-plane.ts';
import { OURS, THEIRS, trunkTo } from './plane.ts';

const TEXT = 'Grüße: Ihr Code ist 4711.\nhttps://a.example/pay';

const MESSAGE: TextMessage = { from: OURS, to: THEIRS, text: TEXT };

/** A carrier that speaks SIP on a port of this machine. */
async function startCarrier(): Promise<{ readonly peer: UserAgent; readonly hostPort: string }> {
  const listen = [{ protocol: 'UDP', address: '127.0.0.1', port: 0 }] as const;
  const peer = new UserAgent({ listen, product: 'carrier' });
  await peer.start();
  onTestFinished(() => peer.stop());
  return { peer, hostPort: `127.0.0.1:${peer.addresses[0]?.port}` };
}

async function openWorld(onText?: DrachtioCarrierOptions['onText'], fields: Partial<Trunk> = {}) {
  const { peer, hostPort } = await startCarrier();
  const trunk = trunkTo(hostPort, { optionsIntervalSeconds: 0, ...fields });
  const plane = await startSilentPlane([trunk], undefined, onText);
  onTestFinished(plane.stop);
  const say = (body: string, headers: Record<string, string> = {}, contentType = 'text/plain') =>
    peer.request({
      method: 'MESSAGE',
      uri: `sip:${OURS}@${plane.hostPort}`,
      from: `<sip:${THEIRS}@carrier.example>`,
      ...{ body, contentType, headers },
    });
  return { peer, plane, say };
}

describe('DrachtioCarrier.sendText', () => {
  test.each([200, 202])('hands a message over that the carrier answers with %d', async (status) => {
    const { peer, plane } = await openWorld();
    const got: unknown[] = [];
    peer.on('request', ({ request, respond }) => {
      const [from, to] = ['from', 'to'].map((name) => request.get(name) ?? '');
      const body = request.body.toString();
      got.push({ method: request.method, from, to, body, type: request.get('content-type') });
      respond(status);
    });

    const outcome = await plane.carrier.sendText(MESSAGE);

    expect(outcome).toEqual({ kind: 'taken' });
    expect(got).toEqual([
      {
        method: 'MESSAGE',
        from: expect.stringContaining(`sip:${OURS}@`),
        to: expect.stringContaining(`sip:${THEIRS}@`),
        body: TEXT,
        type: 'text/plain;charset=UTF-8',
      },
    ]);
  });

  test.each([
    [404, { kind: 'refused', sipStatus: 404, reason: 'the carrier answered SIP 404' }],
    [403, { kind: 'refused', sipStatus: 403, reason: 'the carrier answered SIP 403' }],
    [504, { kind: 'unanswered' }],
  ])('says what the answer %d means', async (status, expected) => {
    const { peer, plane } = await openWorld();
    peer.on('request', ({ respond }) => void respond(status));

    expect(await plane.carrier.sendText(MESSAGE)).toEqual(expected);
  });

  test('sends the same request again where a packet is lost, and no second message', async () => {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    onTestFinished(() => void socket.close());
    const trunk = trunkTo(`127.0.0.1:${socket.address().port}`, { optionsIntervalSeconds: 0 });
    const plane = await startSilentPlane([trunk]);
    onTestFinished(plane.stop);
    const branches: (string | undefined)[] = [];
    socket.on('message', (bytes, { port }) => {
      const text = bytes.toString();
      branches.push(/branch=([^;\s]+)/.exec(text)?.[1]);
      if (branches.length < 3) return;
      const kept = text.split('\r\n').filter((line) => /^(Via|From|To|Call-ID|CSeq):/i.test(line));
      socket.send(['SIP/2.0 200 OK', ...kept, 'Content-Length: 0', '', ''].join('\r\n'), port);
    });

    const outcome = await plane.carrier.sendText(MESSAGE);

    expect(outcome).toEqual({ kind: 'taken' });
    expect(new Set(branches).size).toBe(1);
  });

  test.each([
    ['from a number that no trunk has', { ...MESSAGE, from: '+4930123456' }],
    ['to what is no number', { ...MESSAGE, to: 'a@evil.example' }],
  ])('sends nothing %s', async (_case, message) => {
    const { peer, plane } = await openWorld();
    let count = 0;
    peer.on('request', ({ respond }) => {
      count += 1;
      respond(200);
    });

    expect(await plane.carrier.sendText(message)).toMatchObject({
      kind: 'refused',
      sipStatus: null,
    });
    expect(count).toBe(0);
  });
});

test.each([
  ['confirms nothing: the message may be out', () => undefined, { kind: 'unanswered' }],
  [
    'refuses the request',
    (_uri: string, _options: object, callback: SrfCallback<SrfSentRequest>) => callback('no route'),
    { kind: 'refused', sipStatus: null },
  ],
])('TextMessages.send knows what it means that the SIP server %s', async (_case, ask, expected) => {
  const clock = new FakeClock();
  const parts = { clock, log: silentLogger };
  const trunk = trunkTo('192.0.2.1:5060');
  const sourceAcl = new SourceAcl({ ...parts, table: new TrunkTable([trunk]) });
  const srf = { message: () => undefined, request: ask } as unknown as SrfClient;
  const messages = new TextMessages({ ...parts, srf, sourceAcl });

  const outcome = messages.send(MESSAGE, trunk);
  await clock.pass(TRANSACTION_MS);

  expect(await outcome).toMatchObject(expected);
});

describe('incoming MESSAGE', () => {
  test('is taken with its numbers and its text', async () => {
    const got: TextMessage[] = [];
    const { say } = await openWorld(async (message) => void got.push(message));

    const { status } = await say('STOP');

    expect(status).toBe(200);
    expect(got).toEqual([{ from: THEIRS, to: OURS, text: 'STOP' }]);
  });

  test.each([
    ['another type', 415, 'application/json', '{}'],
    ['a text that is too long', 513, 'text/plain', 'x'.repeat(1301)],
  ])('is refused with %s', async (_case, expected, type, body) => {
    const got: TextMessage[] = [];
    const { say } = await openWorld(async (message) => void got.push(message));

    const { status } = await say(body, {}, type);

    expect([status, got]).toEqual([expected, []]);
  });

  test('is refused for now where it cannot be taken, and for good without a listener', async () => {
    const failing = await openWorld(() => Promise.reject(new Error('disk full')));
    const deaf = await openWorld();

    expect((await failing.say('STOP')).status).toBe(503);
    expect((await deaf.say('STOP')).status).toBe(405);
  });

  test('of a host that no trunk allows is refused', async () => {
    const got: TextMessage[] = [];
    const onText = async (message: TextMessage) => void got.push(message);
    const { say } = await openWorld(onText, { allowedSources: ['192.0.2.1/32'] });

    const { status } = await say('STOP');

    expect([status, got]).toEqual([403, []]);
  });
});
