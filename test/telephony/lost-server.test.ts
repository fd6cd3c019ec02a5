import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../examples/phone/phone.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { DrachtioServer } from '../../src/sip/drachtio-server/drachtio-server.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { DirectGateway } from '../../src/telephony/direct/direct-gateway.ts';
import { DrachtioCarrier } from '../../src/telephony/drachtio/carrier/drachtio-carrier.ts';
import { OpenDialogJournal } from '../../src/telephony/drachtio/carrier/open-dialog-journal.ts';
import { freePort } from '../support/network/free-ports.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { OURS, Rings } from './plane.ts';
import { SilentLines } from './silent-lines.ts';
import { dialogsInMemory } from './support/dialogs-in-memory.ts';

const SECRET = 'only for tests';
const address = '127.0.0.1';

/** A carrier with one call from a phone, on a SIP server that can be taken away and put back. */
async function openCall() {
  const [sipPort, port] = [await freePort(), await freePort()];
  const userAgent = new UserAgent({ listen: [{ protocol: 'UDP', address, port: sipPort }] });
  await userAgent.start();
  const startServer = async () => {
    const drachtioServer = new DrachtioServer({ userAgent, secret: SECRET, port });
    await drachtioServer.start();
    onTestFinished(() => drachtioServer.stop());
    return drachtioServer;
  };
  const drachtioServer = await startServer();
  const { kept, store } = dialogsInMemory();
  const parts = { clock: new FakeClock(), log: silentLogger };
  const lines = new SilentLines();
  const carrier = new DrachtioCarrier({
    ...{ ...parts, host: address, port, secret: SECRET, trunks: [] },
    media: new DirectGateway({ engine: lines }),
    journal: new OpenDialogJournal({ ...parts, store, orphans: [] }),
  });
  const rings = new Rings();
  await carrier.start(rings.take);
  const phone = new Phone();
  await phone.start();
  onTestFinished(async () => {
    await carrier.stop();
    await phone.stop();
    await userAgent.stop();
  });
  const dialled = phone.call(`sip:${OURS}@${address}:${sipPort}`);
  const leg = await (await rings.next()).answer();
  await dialled;
  const causes: unknown[] = [];
  leg.onReleased((cause) => causes.push(cause));
  return { ...parts, carrier, drachtioServer, startServer, kept, lines, causes };
}

test('DrachtioCarrier ends the calls of a server that stays away, and tells their far ends when it is back', async () => {
  const { clock, carrier, drachtioServer, startServer, kept, lines, causes } = await openCall();

  await drachtioServer.stop();
  await expect.poll(() => carrier.isConnected).toBe(false);
  const before = [...causes];
  clock.advance(5_000);
  const written = kept.size;
  await startServer();
  const comesBack = () => {
    // The try that was under way has to fail before the next one is waited for.
    clock.advance(3_000);
    return carrier.isConnected;
  };
  await expect.poll(comesBack).toBe(true);

  expect(before).toEqual([]);
  expect(causes).toEqual([{ kind: 'broken', reason: 'the SIP server is out of reach' }]);
  expect(lines.opened.map(({ isClosed }) => isClosed)).toEqual([true]);
  expect(written).toBe(1);
  await expect.poll(() => kept.size).toBe(0);
});

test('DrachtioCarrier ends the calls that a server has lost as soon as it is back', async () => {
  const { clock, carrier, drachtioServer, startServer, kept, causes } = await openCall();

  await drachtioServer.stop();
  await expect.poll(() => carrier.isConnected).toBe(false);
  await startServer();
  clock.advance(250);

  await expect
    .poll(() => causes)
    .toEqual([{ kind: 'broken', reason: 'the SIP server has lost the call' }]);
  await expect.poll(() => kept.size).toBe(0);
});
