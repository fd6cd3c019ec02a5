/** Whole calls between two user agents, over real UDP and TCP. */
import { afterEach, describe, expect, test } from 'vitest';
import type { ServerInvite } from '../../src/sip/server-invite.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { SDP } from './messages.ts';
import { ALL_OVER_MS, eventually, next, type Pair, startPair, stopPair } from './user-agents.ts';

let pair: Pair | undefined;

afterEach(async () => {
  if (pair !== undefined) await stopPair(pair);
  pair = undefined;
});

/** A call that is answered; both its dialogs. */
async function answeredCall(protocol: 'UDP' | 'TCP' = 'UDP') {
  const world = await startPair(protocol);
  pair = world;
  const { alice, bob, bobUri } = world;
  const invited = next<[ServerInvite]>(bob, 'invite');
  const call = alice.invite({ uri: bobUri, body: SDP });
  const [invite] = await invited;
  const { dialog: callee, acknowledged } = invite.accept({ body: SDP });
  const { dialog: caller } = await call.outcome;
  const ack = await acknowledged;
  if (caller === null || ack === null) throw new Error('call was not answered');
  return { alice, bob, caller, callee, invite, ack };
}

describe.each(['UDP', 'TCP'] as const)('a call over %s', (protocol) => {
  test('is offered, rings, is answered, acknowledged and ended', async () => {
    pair = await startPair(protocol);
    const { alice, bob, bobUri } = pair;
    bob.on('invite', (invite) => {
      invite.progress(180);
      invite.accept({ body: SDP, headers: { 'X-Answer': 'yes' } });
    });
    const provisional: number[] = [];

    const call = alice.invite({ uri: bobUri, body: SDP, headers: { 'X-Offer': 'yes' } });
    call.on('provisional', ({ status }) => provisional.push(status));
    const { dialog, response } = await call.outcome;
    const callee = bob.findDialog(
      `${dialog?.data.callId}|${dialog?.data.remoteTag}|${dialog?.data.localTag}`,
    );
    const ended = callee && next(callee, 'ended');
    const bye = await dialog?.bye();

    expect(provisional).toEqual([180]);
    expect(response.get('x-answer')).toBe('yes');
    expect(response.body.toString()).toBe(SDP);
    expect(bye?.status).toBe(200);
    expect(await ended).toMatchObject([{ cause: 'remote-bye' }]);
    expect(dialog?.state).toBe('ended');
  });

  test('leaves nothing behind', async () => {
    const { alice, bob, caller } = await answeredCall(protocol);

    await caller.bye();

    expect([alice.sizes.dialogs, bob.sizes.dialogs]).toEqual([0, 0]);
    await eventually(
      () => alice.sizes.transactions + bob.sizes.transactions === 0,
      `no transactions after ${ALL_OVER_MS} ms`,
    );
  });

  test('can be ended by who was called', async () => {
    const { caller, callee } = await answeredCall(protocol);
    const ended = next(caller, 'ended');

    const bye = await callee.bye({ headers: { Reason: 'Q.850;cause=16' } });

    expect(bye?.status).toBe(200);
    expect(await ended).toMatchObject([{ cause: 'remote-bye' }]);
    expect(await callee.bye()).toBeNull();
  });

  test('carries requests both ways', async () => {
    const { caller, callee } = await answeredCall(protocol);
    for (const dialog of [caller, callee]) {
      dialog.on('request', ({ request, respond }) =>
        respond(200, { body: request.body, contentType: 'text/plain' }),
      );
    }

    const [toCallee, toCaller] = await Promise.all([
      caller.request('INFO', { body: 'one', contentType: 'text/plain' }),
      callee.request('INFO', { body: 'two', contentType: 'text/plain' }),
    ]);

    expect(toCallee.body.toString()).toBe('one');
    expect(toCaller.body.toString()).toBe('two');
  });

  test('can be refused', async () => {
    pair = await startPair(protocol);
    const { alice, bob, bobUri } = pair;
    bob.on('invite', (invite) => invite.reject(486, { headers: { 'Retry-After': '9' } }));

    const { response, dialog } = await alice.invite({ uri: bobUri, body: SDP }).outcome;

    expect(response.status).toBe(486);
    expect(response.get('retry-after')).toBe('9');
    expect(dialog).toBeNull();
  });
});

test('UserAgent answers OPTIONS, and 503 while it drains', async () => {
  pair = await startPair();
  const { alice, bob, bobUri } = pair;

  const before = await alice.request({ method: 'OPTIONS', uri: bobUri });
  bob.drain();
  const during = await alice.request({ method: 'OPTIONS', uri: bobUri });
  const call = await alice.invite({ uri: bobUri, body: SDP }).outcome;

  expect(before.status).toBe(200);
  expect(before.get('allow')).toContain('INVITE');
  expect(during.status).toBe(503);
  expect(during.get('retry-after')).toBe('5');
  expect(call.response.status).toBe(503);
});

test('UserAgent sends 100 before an answer, and 480 without a listener', async () => {
  const clock = new FakeClock();
  // Her time stands still: an INVITE that she repeats would be answered with one more 100.
  pair = await startPair('UDP', { alice: { clock: new FakeClock() }, bob: { clock } });
  const { alice, bob, bobUri } = pair;
  const unheard = await alice.invite({ uri: bobUri, body: SDP }).outcome;
  const provisional: number[] = [];
  const invited = next<[ServerInvite]>(bob, 'invite');

  const call = alice.invite({ uri: bobUri, body: SDP });
  call.on('provisional', ({ status }) => provisional.push(status));
  const [invite] = await invited;
  clock.advance(200);
  invite.reject(603);
  const heard = await call.outcome;

  expect(unheard.response.status).toBe(480);
  expect(provisional).toEqual([100]);
  expect(heard.response.status).toBe(603);
});

test('UserAgent refuses headers that would forge a message', async () => {
  pair = await startPair();
  const { alice, bobUri } = pair;
  const forged = { 'X-Note': 'a\r\nX-Forged: b' };

  expect(() => alice.invite({ uri: bobUri, headers: forged })).toThrow('line break');
  expect(() => alice.invite({ uri: bobUri, headers: { Via: 'x' } })).toThrow('engine');
  expect(() => alice.invite({ uri: bobUri, from: '<sip:a@b>\r\nX: y' })).toThrow('line break');
});

test.each([
  'UDP',
  'TCP',
] as const)('UserAgent names the %s port that it cannot have, and what to do', async (protocol) => {
  const { UserAgent } = await import('../../src/sip/user-agent.ts');
  const early = new UserAgent({ listen: [{ protocol, address: '127.0.0.1', port: 0 }] });
  await early.start();
  const port = early.addresses[0]?.port ?? 0;
  const late = new UserAgent({ listen: [{ protocol, address: '127.0.0.1', port }] });

  await expect(late.start()).rejects.toThrow(
    `Cannot listen on ${protocol} "127.0.0.1:${port}": another program listens there; stop it, or set SIP_PORT`,
  );
  await Promise.all([early.stop(), late.stop()]);
});

test('UserAgent settles everything that waits when it stops', async () => {
  pair = await startPair();
  const { alice, bob, bobUri } = pair;
  const invited = next<[ServerInvite]>(bob, 'invite');
  const call = alice.invite({ uri: bobUri, body: SDP });
  const [invite] = await invited;
  const cancelled = next(invite, 'cancelled');

  await bob.stop();
  const options = alice.request({ method: 'OPTIONS', uri: bobUri });
  await alice.stop();

  expect(await cancelled).toEqual([null]);
  expect((await call.outcome).response.status).toBe(503);
  expect((await options).status).toBe(503);
  expect([alice.sizes, bob.sizes]).toEqual(
    Array(2).fill({ transactions: 0, dialogs: 0, connections: 0 }),
  );
});
