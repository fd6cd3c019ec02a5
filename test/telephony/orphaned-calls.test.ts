/** Calls that a process, or a connection to a drachtio-server, has left: what that server is told on the next one. */
import { afterEach, expect, test } from 'vitest';
import type { OpenDialog, OpenInvite } from '../../src/domain/call/open-dialog.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { OpenDialogJournal } from '../../src/telephony/drachtio/carrier/open-dialog-journal.ts';
import {
  type FindProxy,
  invitesOver,
} from '../../src/telephony/drachtio/carrier/orphaned-calls.ts';
import { openSrf } from '../../src/telephony/drachtio/carrier/srf.ts';
import { ScriptedPeer } from '../sip/scripted-peer.ts';
import { buildDialog } from '../support/sip/build-dialog.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { startSilentPlane } from './embedded-plane.ts';
import { dialogsInMemory } from './support/dialogs-in-memory.ts';
import { LogInServer } from './support/log-in-server.ts';

const NAME = 'sip by 127.0.0.1:9022';

const INVITE: OpenInvite = {
  direction: 'out',
  server: NAME,
  transactionId: 'transaction-1',
  head: [
    'INVITE sip:+390612345678@192.0.2.9 SIP/2.0',
    'Via: SIP/2.0/UDP 192.0.2.2:5060;branch=z9hG4bK1',
    'From: <sip:+15550100001@192.0.2.2>;tag=theirs',
    'To: <sip:+390612345678@192.0.2.9>',
    'Call-ID: call-1',
    'CSeq: 1 INVITE',
    'Content-Length: 0',
    '\r\n',
  ].join('\r\n'),
  peer: { protocol: 'UDP', address: '192.0.2.2', port: 5060 },
};

const opened: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.stop();
});

/** Ends an orphaned call, over a server that answers commands as `onSend` says. */
async function end(
  invite: OpenInvite | null,
  onSend: LogInServer['onSend'],
  name = NAME,
  findProxy?: FindProxy,
  fields: Partial<OpenDialog> = {},
) {
  const server = new LogInServer();
  server.onSend = onSend;
  const port = await server.start();
  const srf = openSrf();
  const clock = new FakeClock();
  srf.on('error', () => undefined);
  const connected = new Promise((resolve) => srf.on('connect', resolve));
  srf.connect({ host: '127.0.0.1', port, secret: 'right', reconnect: { maxAttempts: 1 } });
  opened.push({ stop: () => srf.disconnect() }, server);
  await connected;
  const { kept, store } = dialogsInMemory(new Map([['a', buildDialog({ invite, ...fields })]]));
  const journal = new OpenDialogJournal({
    store,
    orphans: [...kept.values()],
    clock,
    log: silentLogger,
    ...(findProxy && { findProxy }),
  });
  journal.useServers([name]);
  journal.connected({ name, srf, endInvite: invitesOver(srf, clock) });
  /** What it was asked to send: transaction, dialog, start line. */
  const asked = () =>
    server.heard
      .split(/\d+#[0-9a-f-]{36}\|/)
      .filter((command) => command.startsWith('sip|'))
      .map((command) => {
        const [, transaction, dialog, line] =
          /^sip\|([^|]*)\|([^|\r]*)[^\r]*\r\n([^\r]*)/.exec(command) ?? [];
        return `${transaction}|${dialog}|${line}`;
      });
  return { kept, clock, asked, server };
}

/** drachtio-server's name of the dialog in `buildDialog`. */
const DIALOG = 'call-1;from-tag=ours';

/** As drachtio-server says that it has sent something. */
const SENT = [
  ...['OK', 'application', '200', 'udp', '192.0.2.2', '5060', '12:00:00.0', 'transaction-2'],
  'Msg sent:|\r\nCANCEL sip:a@b SIP/2.0\r\nCall-ID: call-1\r\n\r\n',
].join('|');

const SENT_BYE = SENT.replace('CANCEL sip:a@b', 'BYE sip:a@b');

/** As drachtio-server hands the response over. */
function answeredBye(status: number): string {
  return [
    '2|sip|network|100|udp|192.0.2.2|5060|12:00:00.0|transaction-2||',
    `SIP/2.0 ${status} OK\r\nCall-ID: call-1\r\nCSeq: 1002 BYE\r\n\r\n`,
  ].join('\r\n');
}

test('a ringing call of ours is cancelled by the name of its transaction, and an answer that crosses that is ended', async () => {
  const { kept, clock, asked } = await end(INVITE, () => SENT);

  await expect.poll(asked).toEqual(['transaction-1||CANCEL sip:placeholder SIP/2.0']);
  await expect.poll(() => clock.waiting).toBe(2);
  clock.advance(2_000);
  await expect.poll(asked).toEqual([expect.any(String), `|${DIALOG}|BYE sip:placeholder SIP/2.0`]);

  await expect.poll(() => kept.size).toBe(0);
});

test('a call of ours that was answered meanwhile is acknowledged and ended', async () => {
  const { kept, asked } = await end(INVITE, (command) =>
    command.includes('CANCEL') ? 'NOK|internal server error canceling transaction id' : SENT,
  );

  await expect.poll(() => kept.size).toBe(0);

  expect(asked().slice(1)).toEqual([
    `|${DIALOG}|ACK sip:placeholder SIP/2.0`,
    `|${DIALOG}|BYE sip:placeholder SIP/2.0`,
  ]);
});

test('a call of ours that is over already is let go', async () => {
  const { kept, asked } = await end(
    INVITE,
    () => 'NOK|unable to cancel unknown transaction id: transaction-1',
  );

  await expect.poll(() => kept.size).toBe(0);

  expect(asked()).toHaveLength(1);
});

test('a caller without an answer is refused by the name of the transaction', async () => {
  const { kept, asked, server } = await end({ ...INVITE, direction: 'in' }, () => SENT);

  await expect.poll(() => kept.size).toBe(0);

  expect(asked()).toEqual(['transaction-1||SIP/2.0 503 Service Unavailable']);
  expect(server.heard).toMatch(/retry-after: ?5/i);
});

test('BYE of an answered call needs no packet of its own for its response', async () => {
  const { kept } = await end(null, () => [SENT_BYE, answeredBye(200)]);

  await expect.poll(() => kept.size).toBe(0);
});

test('BYE of an answered call has a greater number than any request that its dialog may have seen', async () => {
  const { kept, server } = await end(null, () => [SENT_BYE, answeredBye(200)]);

  await expect.poll(() => kept.size).toBe(0);
  const sequence = Number(/^CSeq: (\d+) BYE/im.exec(server.heard)?.[1]);
  expect(sequence).toBeGreaterThan(2 ** 27 + 65_536);
  expect(sequence).toBeLessThan(2 ** 31);
});

test.each([
  ['cannot be sent', 'NOK|no way to it'],
  ['has no way to its target', [SENT_BYE, answeredBye(503)] as const],
])('BYE of an answered call that %s is sent again through the proxy', async (_, first) => {
  const asked: string[] = [];
  const proxy = 'sip:proxy.example;transport=tls';

  const { kept, server } = await end(
    null,
    (command) => (command.includes(proxy) ? [SENT_BYE, answeredBye(200)] : first),
    NAME,
    (nextHop) => {
      asked.push(nextHop);
      return proxy;
    },
  );
  await expect.poll(() => kept.size).toBe(0);

  expect(asked).toEqual(['<sip:192.0.2.3;lr>']);
  expect(server.heard.match(/^BYE /gm)).toHaveLength(2);
});

test('BYE of an answered call that its target refuses is not sent again', async () => {
  const { kept, server } = await end(
    null,
    () => [SENT_BYE, answeredBye(481)],
    NAME,
    () => 'sip:proxy.example;transport=tls',
  );
  await expect.poll(() => kept.size).toBe(0);

  expect(server.heard.match(/^BYE /gm)).toHaveLength(1);
});

test.each([
  ['a name that it alone knows', 'sip:bob@pbx.invalid'],
  ['a private address', 'sip:bob@10.99.99.99:5060'],
  ['a transport that it does not listen on', 'sip:bob@127.0.0.1:9;transport=tcp'],
])('BYE of an answered call reaches a far end whose Contact has %s', async (_, remoteTarget) => {
  const far = await new ScriptedPeer().start();
  const peer = { protocol: 'UDP', address: '127.0.0.1', port: far.port };
  const orphan = buildDialog({ remoteTarget, peer, routes: [] });
  const { kept, store } = dialogsInMemory(new Map([['a', orphan]]));
  const orphans = [...kept.values()];

  const plane = await startSilentPlane(
    [],
    new OpenDialogJournal({ store, orphans, clock: new FakeClock(), log: silentLogger }),
  );
  opened.push(far, plane);
  const bye = await far.expect('BYE');
  far.reply(bye, 200);

  expect(bye.uri).toBe(remoteTarget);
  await expect.poll(() => kept.size).toBe(0);
});

test('BYE of an answered call whose target demands TLS goes nowhere else', async () => {
  const fields = { remoteTarget: 'sips:bob@pbx.invalid', routes: [] };

  const { kept, server } = await end(
    null,
    () => [SENT_BYE, answeredBye(503)],
    NAME,
    undefined,
    fields,
  );
  await expect.poll(() => kept.size).toBe(0);

  expect(server.heard.match(/^BYE /gm)).toHaveLength(1);
});

test('what another server would have to end is let go, and nothing is sent', async () => {
  const { kept, asked } = await end(INVITE, () => SENT, 'sip');

  expect(kept.size).toBe(0);
  expect(asked()).toEqual([]);
});
