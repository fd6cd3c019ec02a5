/** SMPP gateways against a server of another maker: messages, reports, losses, nonsense. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SmsGateway } from '../../src/domain/sms/sms-gateway.ts';
import { type Clock, ScaledClock, systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { SmppGateways } from '../../src/tool/sms/smpp/smpp-gateways.ts';
import {
  COMMANDS,
  decodeText,
  encodeText,
  RESPONSE_BIT,
  readDelivery,
  readPdu,
  writePdu,
} from '../../src/tool/sms/smpp/smpp-pdu.ts';
import { PASSWORD, SmppServer, SYSTEM_ID, takes } from '../support/sms/smpp-server.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';
import { buildSms, buildSmsGateway } from '../support/store/build-sms.ts';
import { openTestStore } from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const LOCAL = { allowLocal: true, allowPrivate: false };

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const never = new AbortController().signal;

async function openGateways(
  port: number,
  fields: Partial<SmsGateway> = {},
  rules = LOCAL,
  // A time limit of 10 s is over in two.
  clock: Clock = new ScaledClock({ clock: systemClock, speed: 5 }),
) {
  const store = await openTestStore();
  await store.agents.insert(buildAgent());
  await store.calls.insert(buildCall({ status: 'completed', endedAt: new Date(0) }), []);
  const gateway = buildSmsGateway({
    ...{ kind: 'smpp', preset: null, url: `smpp://127.0.0.1:${port}` },
    ...{ username: SYSTEM_ID, secret: PASSWORD, ...fields },
  });
  await store.smsGateways.insert(gateway);
  const gateways = new SmppGateways({
    stores: store,
    rules,
    lookup: async () => (_name, _options, callback) => callback(new Error('no names'), ''),
    clock,
    log: silentLogger,
  });
  onTestFinished(() => gateways.stop());
  const send = (text = 'Hello', signal = never) =>
    gateways.send(gateway, buildSms({ text }), signal);
  const state = async () => (await store.smsMessages.ofCall('call_1'))[0]?.status;
  const optOuts = async () => (await store.smsOptOuts.list(SCOPE, { limit: 9, offset: 0 })).total;
  const sentMessage = (providerId: string) =>
    store.smsMessages.admit(buildSms({ status: 'sent', providerId }), 10);
  return { store, gateway, gateways, send, state, optOuts, sentMessage };
}

/** With a session that is bound, however busy the machine is. */
async function openBound(server: SmppServer, fields: Partial<SmsGateway> = {}) {
  const world = await openGateways(server.port, fields);
  world.gateways.start();
  await expect.poll(() => server.sessions.length, { timeout: 5000 }).toBe(1);
  return world;
}

describe('SmppGateways.send', () => {
  test.each([
    ['Grüße, Code [4711] 5 €', 0, 'short_message'],
    ['x'.repeat(300), 0, 'message_payload'],
    ['Код 4711 😀', 8, 'short_message'],
    ['Ж'.repeat(200), 8, 'message_payload'],
  ] as const)('submits %j in coding %d as %s', async (text, coding, field) => {
    const server = await SmppServer.open(takes('m-1'));
    const { send } = await openBound(server);

    const news = await send(text);

    const [submitted] = server.submitted;
    expect(news).toEqual({ status: 'sent', providerId: 'm-1' });
    expect(server.submitted).toHaveLength(1);
    expect(submitted).toMatchObject({
      ...{ source_addr: '393339999999', source_addr_ton: 1, registered_delivery: 1 },
      ...{ destination_addr: '393331234567', dest_addr_ton: 1, data_coding: coding },
    });
    expect(submitted?.[field]?.message).toBe(text);
  });

  test('names a sender as a name', async () => {
    const server = await SmppServer.open(takes('m-1'));
    const { send } = await openBound(server, { from: 'Shop' });

    await send();

    expect(server.submitted[0]).toMatchObject({ source_addr: 'Shop', source_addr_ton: 5 });
  });

  test('says with which status a message was refused', async () => {
    const server = await SmppServer.open((pdu, session) => {
      session.send(pdu.response({ command_status: 0x0b }));
    });
    const { send } = await openBound(server);

    expect(await send()).toEqual({
      status: 'failed',
      reason: 'the gateway refused it with 0x0000000b',
    });
  });

  test.each([
    ['without the NUL at its end', 'm-1', 'm-1'],
    ['that is empty', '\0', null],
    ['that is left out', '', null],
  ])('counts a message as sent whose answer has an identifier %s', async (_case, id, providerId) => {
    const server = await SmppServer.open(({ sequence_number: sequence }, { socket }) => {
      const command = COMMANDS.submit + RESPONSE_BIT;
      socket.write(writePdu({ command, status: 0, sequence, body: Buffer.from(id) }));
    });
    const { send } = await openBound(server);

    expect(await send()).toEqual({ status: 'sent', providerId });
  });

  test('submits nothing once the time of the message is over', async () => {
    const server = await SmppServer.open(takes('m-1'));
    const { send } = await openBound(server);
    const late = new AbortController();

    const news = send('Hello', late.signal);
    late.abort(new Error('late'));

    expect(await news).toEqual({ status: 'failed', reason: 'it was not sent: late' });
    expect(server.submitted).toEqual([]);
  });

  test('does not know what became of a message without an answer, and sends it once', async () => {
    const server = await SmppServer.open(() => undefined);
    const { send } = await openBound(server);

    expect(await send()).toMatchObject({ status: 'unknown' });
    expect(server.submitted).toHaveLength(1);
  });

  test('does not know what became of a message whose connection broke', async () => {
    const server = await SmppServer.open((_pdu, session) => session.destroy());
    const { send } = await openBound(server);

    expect(await send()).toMatchObject({ status: 'unknown' });
  });

  test.each([
    ['a wrong password', { secret: 'wrong' }, LOCAL, '0x0000000e'],
    ['no server', { url: 'smpp://127.0.0.1:1' }, LOCAL, 'ECONNREFUSED'],
    ['an address that is refused', {}, { allowLocal: false, allowPrivate: false }, 'server itself'],
    ['a name without an address', { url: 'smpp://a.example:2775' }, LOCAL, 'no names'],
  ])('fails at %s', async (_case, fields, rules, why) => {
    const server = await SmppServer.open(takes('m-1'));
    const { send } = await openGateways(server.port, fields, rules);

    // On a busy machine the first attempt may still be running.
    const said = async () => JSON.stringify(await send());
    await expect.poll(said, { timeout: 5000 }).toContain(why);
    const news = await send();

    expect(news).toMatchObject({ status: 'failed', reason: expect.stringContaining(why) });
    expect(JSON.stringify(news)).not.toContain(PASSWORD);
    expect(server.submitted).toEqual([]);
  });

  test('goes on after the connection was lost', async () => {
    const server = await SmppServer.open(takes('m-1'));
    const { send } = await openBound(server);
    await send('one');
    server.sessions.at(-1)?.destroy();

    await expect
      .poll(() => send('two').then(({ status }) => status), { timeout: 5000 })
      .toBe('sent');

    expect(server.sessions).toHaveLength(2);
  });

  test('uses the settings as they are now, in the same session where the server is the same', async () => {
    const server = await SmppServer.open(takes('m-1'));
    const other = await SmppServer.open(takes('m-2'));
    const { gateway, gateways, send } = await openBound(server);
    const renamed = { ...gateway, from: 'Shop', updatedAt: new Date() };
    const url = `smpp://127.0.0.1:${other.port}`;
    const moved = { ...renamed, url, updatedAt: new Date(Date.now() + 1) };
    const sendBy = (one: SmsGateway) => gateways.send(one, buildSms(), never);

    await sendBy(renamed);
    const there = () => sendBy(moved).then(({ providerId }) => providerId);
    await expect.poll(there, { timeout: 5000 }).toBe('m-2');
    const late = await send();

    expect(server.submitted.map(({ source_addr }) => source_addr)).toEqual(['Shop']);
    expect(server.sessions).toHaveLength(1);
    expect(late.providerId).toBe('m-2');
  });

  test('survives a server that speaks nonsense', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.on('error', () => undefined);
      socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff, 1, 2, 3]));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { send } = await openGateways((server.address() as AddressInfo).port);

    expect(await send()).toMatchObject({ status: 'failed' });
    await expect.poll(() => connections, { timeout: 5000 }).toBeGreaterThan(1);
  });
});

test('SmppGateways binds less and less often to a server that hangs up after each bind', async () => {
  let binds = 0;
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (bytes) => {
        const sequence = readPdu(bytes)?.pdu.sequence ?? 0;
        const command = COMMANDS.bindTransceiver + RESPONSE_BIT;
        socket.end(writePdu({ command, status: 0, sequence, body: Buffer.from('\0') }));
        binds += 1;
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const clock = new FakeClock();
  const { gateways } = await openGateways((server.address() as AddressInfo).port, {}, LOCAL, clock);

  gateways.start();
  for (let bind = 1; bind <= 4; bind += 1) {
    await expect.poll(() => clock.pass(500).then(() => binds), { timeout: 5000 }).toBe(bind);
  }

  // 1 + 2 + 4 s.
  expect(clock.nowMs()).toBeGreaterThanOrEqual(7000);
});

test('SmppGateways.stop waits for no server that has not answered the bind', async () => {
  let binds = 0;
  const silent = createServer((socket) => {
    socket.on('error', () => undefined).on('data', () => (binds += 1));
  }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const clock = new FakeClock();
  const { gateways } = await openGateways((silent.address() as AddressInfo).port, {}, LOCAL, clock);
  gateways.start();
  await expect.poll(() => binds, { timeout: 5000 }).toBe(1);

  let isEnded = false;
  void gateways.stop().then(() => {
    isEnded = true;
  });
  await expect.poll(() => clock.pass(1000).then(() => isEnded), { timeout: 5000 }).toBe(true);

  expect(clock.nowMs()).toBeLessThanOrEqual(3000);
});

describe('deliveries', () => {
  test('of reports move a message on, also before the answer to its submission is on record', async () => {
    const server = await SmppServer.open(takes('m-1'));
    const { state, sentMessage } = await openBound(server);

    const early = server.report('m-1', 'DELIVRD');
    await sentMessage('m-1');

    expect(await early).toBe(0);
    expect(await state()).toBe('delivered');
  });

  test('of failures have their code', async () => {
    const server = await SmppServer.open(takes('m-1'));
    const { store, sentMessage } = await openBound(server);
    await sentMessage('m-1');

    await server.report('m-1', 'UNDELIV', '042');

    expect(await store.smsMessages.ofCall('call_1')).toMatchObject([
      { status: 'failed', reason: 'the network reported "UNDELIV" (042)' },
    ]);
  });

  test('of STOP and START change the list of opt-outs, and of other words nothing', async () => {
    const server = await SmppServer.open(takes('m-1'));
    const { optOuts } = await openBound(server);
    const says = (text: string) =>
      server.deliver({ source_addr: '393331234567', short_message: text });

    const statuses = [await says('Stop by at nine?'), await says('STOP')];
    const after = await optOuts();
    await says('Start');

    expect([statuses, after, await optOuts()]).toEqual([[0, 0], 1, 0]);
  });

  test('that cannot be taken now are asked for again', async () => {
    const server = await SmppServer.open(takes('m-1'));
    const { store } = await openBound(server);
    await store.close();

    expect(await server.deliver({ source_addr: '393331234567', short_message: 'STOP' })).toBe(0x64);
  });
});

describe('readPdu and readDelivery', () => {
  test('read any octets, or refuse them with a RangeError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (octets) => {
        for (const read of [readPdu, readDelivery]) {
          try {
            read(Buffer.from(octets));
          } catch (error) {
            expect(error).toBeInstanceOf(RangeError);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });
});

test('decodeText gives back what encodeText was given', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
      expect(decodeText(encodeText(text.toWellFormed()))).toBe(text.toWellFormed());
    }),
  );
});
