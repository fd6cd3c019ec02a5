import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../examples/phone/phone.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { DrachtioServer } from '../../src/sip/drachtio-server/drachtio-server.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { DirectGateway } from '../../src/telephony/direct/direct-gateway.ts';
import { CarrierPool } from '../../src/telephony/drachtio/carrier/carrier-pool.ts';
import { DrachtioCarrier } from '../../src/telephony/drachtio/carrier/drachtio-carrier.ts';
import { OpenDialogJournal } from '../../src/telephony/drachtio/carrier/open-dialog-journal.ts';
import type { Trunk } from '../../src/telephony/trunks/trunks.ts';
import { freePort } from '../support/network/free-ports.ts';
import { OURS, Rings, THEIRS, trunkTo } from './plane.ts';
import { SilentLines } from './silent-lines.ts';
import { dialogsInMemory } from './support/dialogs-in-memory.ts';

const PARTS = { clock: systemClock, log: silentLogger };
const SECRET = 'only for tests';
const REQUEST = { from: OURS, to: THEIRS, ringingTimeoutMs: 10_000 };

/** One SIP server behind drachtio's protocol, that can die. */
async function startServer() {
  const address = '127.0.0.1';
  const listen = [{ protocol: 'UDP' as const, address, port: await freePort() }];
  const userAgent = new UserAgent({ listen });
  const drachtioServer = new DrachtioServer({ userAgent, secret: SECRET, port: 0 });
  await userAgent.start();
  await drachtioServer.start();
  const { port } = drachtioServer;
  const stop = async () => {
    await drachtioServer.stop();
    await userAgent.stop();
  };
  onTestFinished(stop);
  return { host: address, port, weight: 1, name: `sip by ${port}`, stop };
}

async function openPool(trunk?: Trunk) {
  const phone = new Phone({ number: THEIRS });
  await phone.start();
  const servers = [await startServer(), await startServer()];
  const { kept, store } = dialogsInMemory();
  const journal = new OpenDialogJournal({ ...PARTS, store, orphans: [] });
  const media = new DirectGateway({ engine: new SilentLines() });
  const pool = new CarrierPool(
    servers.map((server) => ({
      weight: 1,
      open: (ties) =>
        new DrachtioCarrier({
          ...{ ...PARTS, ...server, ...ties, secret: SECRET, media, journal },
          trunks: [trunk ?? trunkTo(phone.hostPort())],
        }),
    })),
  );
  await pool.start(new Rings().take);
  onTestFinished(async () => {
    await pool.stop();
    await phone.stop();
  });
  const sources: string[] = [];
  phone.onRinging((call) => {
    sources.push(call.request.get('via') ?? '');
    void call.answer();
  });
  const callOut = async () => {
    const leg = await pool.place(REQUEST).answered;
    const during = kept.size;
    await leg.hangUp();
    return during;
  };
  return { pool, servers, sources, kept, callOut };
}

test('CarrierPool deals calls out to all servers, and to the healthy ones alone when one dies', async () => {
  const { pool, servers, sources, callOut } = await openPool();

  await callOut();
  await callOut();
  const before = new Set(sources.map((via) => /:(\d+)/.exec(via)?.[1])).size;
  await servers[0]?.stop();
  await expect.poll(() => pool.reports()[0]?.state).toContain('127.0.0.1');
  await expect.poll(() => pool.reports()[0]?.state).not.toContain('listening');
  sources.length = 0;
  await callOut();
  await callOut();

  const after = new Set(sources.map((via) => /:(\d+)/.exec(via)?.[1])).size;
  expect([before, after]).toEqual([2, 1]);
  expect(pool.reports().map(({ isReady }) => isReady)).toEqual([true, true, true]);
  expect(pool.reports().map(({ kind }) => kind)).toEqual([undefined, undefined, 'trunk']);
});

test('CarrierPool registers again from the same server when it is told to', async () => {
  const contacts: string[] = [];
  const hostPort = await startRegistrar((contact) => contacts.push(contact));
  const account = { username: 'joe', password: 'secret', register: true };
  const { pool } = await openPool(trunkTo(hostPort, account));
  await expect.poll(() => contacts).toHaveLength(1);

  pool.register();

  await expect.poll(() => contacts).toHaveLength(2);
  expect(new Set(contacts).size).toBe(1);
});

test('CarrierPool registers from one server at a time, and from another when that one dies', async () => {
  const contacts: string[] = [];
  const hostPort = await startRegistrar((contact) => contacts.push(contact));
  const account = { username: 'joe', password: 'secret', register: true };
  const { pool, servers } = await openPool(trunkTo(hostPort, account));

  await expect.poll(() => contacts).toHaveLength(1);
  const isFirst = () => pool.reports()[0]?.state.includes(portOf(contacts[0])) === true;
  await servers[isFirst() ? 0 : 1]?.stop();
  await expect.poll(() => contacts).toHaveLength(2);

  expect(portOf(contacts[1])).not.toBe(portOf(contacts[0]));
});

/** Takes every REGISTER. @returns where. */
async function startRegistrar(onRegistered: (contact: string) => void): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (datagram, { address, port }) => {
    const lines = datagram.toString().split('\r\n');
    const lineOf = (name: string) => lines.find((line) => line.startsWith(`${name}: `)) ?? '';
    const copied = ['Via', 'From', 'To', 'Call-ID', 'CSeq', 'Contact'].map(lineOf);
    if (lineOf('Expires') !== 'Expires: 0') onRegistered(lineOf('Contact'));
    socket.send(
      ['SIP/2.0 200 OK', ...copied, 'Content-Length: 0', '', ''].join('\r\n'),
      port,
      address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

function portOf(contact = ''): string {
  return /127\.0\.0\.1:(\d+)/.exec(contact)?.[1] ?? 'none';
}

test('OpenDialogJournal keeps a call from its answer to its end', async () => {
  const { callOut, kept } = await openPool();

  const during = await callOut();

  expect(during).toBe(1);
  expect(kept.size).toBe(0);
});

test('CarrierPool tells when no call is left', async () => {
  const { pool } = await openPool();
  const leg = await pool.place(REQUEST).answered;
  let isEmpty = false;

  const empty = pool.whenEmpty().then(() => {
    isEmpty = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  const isEmptyBefore = isEmpty;
  await leg.hangUp();
  await empty;

  expect(isEmptyBefore).toBe(false);
});
