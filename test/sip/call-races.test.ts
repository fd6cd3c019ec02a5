/** Race conditions: both sides act at the same moment, or messages arrive in an unusual order. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Dialog } from '../../src/sip/dialog/dialog.ts';
import type { ServerInvite } from '../../src/sip/server-invite.ts';
import { SDP } from './messages.ts';
import { eventually, losingSocket, next, type Pair, startPair, stopPair } from './user-agents.ts';

let pair: Pair | undefined;

afterEach(async () => {
  if (pair !== undefined) await stopPair(pair);
  pair = undefined;
});

/** Rings at Bob's. */
async function ringingCall(options: { acknowledge?: 'automatic' | 'manual' } = {}) {
  pair = await startPair();
  const { alice, bob, bobUri } = pair;
  const invited = next<[ServerInvite]>(bob, 'invite');
  const call = alice.invite({ uri: bobUri, body: SDP, ...options });
  const [invite] = await invited;
  const ringing = next(call, 'provisional');
  invite.progress(180);
  await ringing;
  return { alice, bob, bobUri, call, invite };
}

async function answeredCall(): Promise<{ caller: Dialog; callee: Dialog }> {
  const { call, invite } = await ringingCall();
  const { dialog: callee, acknowledged } = invite.accept({ body: SDP });
  const { dialog: caller } = await call.outcome;
  await acknowledged;
  if (caller === null) throw new Error('call was not answered');
  return { caller, callee };
}

describe('cancel', () => {
  test('ends a ringing call with 487 on both sides', async () => {
    const { call, invite } = await ringingCall();
    const cancelled = next(invite, 'cancelled');

    call.cancel();

    expect((await call.outcome).response.status).toBe(487);
    expect(await cancelled).toMatchObject([{ method: 'CANCEL' }]);
    expect(invite.state).toBe('cancelled');
    expect(() => invite.accept()).toThrow('it is cancelled');
    expect(invite.reject(486)).toBeNull();
  });

  test('sends nothing when the call has not gone out yet', async () => {
    pair = await startPair();
    const call = pair.alice.invite({ uri: pair.bobUri, body: SDP });

    call.cancel();

    expect((await call.outcome).response.status).toBe(487);
    expect(pair.alice.counts.messagesOut).toBe(0);
  });

  test('waits for the first provisional response', async () => {
    pair = await startPair();
    const { alice, bob, bobUri } = pair;
    const invited = next<[ServerInvite]>(bob, 'invite');
    const call = alice.invite({ uri: bobUri, body: SDP });
    await next(call, 'sent');

    call.cancel();
    const [invite] = await invited;
    const cancelled = next(invite, 'cancelled');
    invite.progress(180);

    expect((await call.outcome).response.status).toBe(487);
    await cancelled;
  });

  test('hangs up when the answer has crossed it', async () => {
    const { call, invite } = await ringingCall();

    const { acknowledged, dialog } = invite.accept({ body: SDP });
    const ended = next(dialog, 'ended');
    call.cancel();

    expect((await call.outcome).response.status).toBe(487);
    expect(await acknowledged).toMatchObject({ method: 'ACK' });
    expect(await ended).toMatchObject([{ cause: 'remote-bye' }]);
  });

  test('leaves the crossing answer to an application that acknowledges by itself', async () => {
    const { call, invite } = await ringingCall({ acknowledge: 'manual' });

    const { acknowledged } = invite.accept({ body: SDP });
    call.cancel();
    const { dialog } = await call.outcome;
    const ack = await dialog?.ack();
    const bye = await dialog?.bye();

    expect(ack?.method).toBe('ACK');
    expect(await acknowledged).toMatchObject({ method: 'ACK' });
    expect(bye?.status).toBe(200);
  });

  test('happens by itself when the call rings for too long', async () => {
    pair = await startPair();
    const { alice, bob, bobUri } = pair;
    bob.on('invite', (invite) => invite.progress(180));

    const call = alice.invite({ uri: bobUri, body: SDP, ringTimeoutMs: 50 });

    expect((await call.outcome).response.status).toBe(487);
  });
});

test('A caller may end an early dialog by BYE', async () => {
  const { call, invite, alice } = await ringingCall();
  const cancelled = next(invite, 'cancelled');
  const early = alice.findDialog(
    `${invite.request.callId}|${invite.request.fromTag}|${invite.localTag}`,
  );

  const bye = await early?.bye();

  expect(bye?.status).toBe(200);
  expect(await cancelled).toMatchObject([{ method: 'BYE' }]);
  expect((await call.outcome).response.status).toBe(487);
});

test('A BYE before the ACK settles the acceptance', async () => {
  const { call, invite } = await ringingCall({ acknowledge: 'manual' });

  const { acknowledged } = invite.accept({ body: SDP });
  const { dialog } = await call.outcome;
  await dialog?.bye();

  expect(await acknowledged).toBeNull();
});

test('A 2xx without ACK ends in BYE', async () => {
  pair = await startPair('UDP', {
    alice: { openUdpSocket: losingSocket((bytes) => bytes.toString().startsWith('ACK')) },
  });
  const { alice, bob, bobUri } = pair;
  const invited = next<[ServerInvite]>(bob, 'invite');
  const call = alice.invite({ uri: bobUri, body: SDP });
  const [invite] = await invited;
  const { acknowledged, dialog } = invite.accept({ body: SDP });
  const { dialog: caller } = await call.outcome;
  const ended = Promise.all([next(dialog, 'ended'), caller && next(caller, 'ended')]);

  expect(await acknowledged).toBeNull();
  expect(await ended).toMatchObject([[{ cause: 'no-ack' }], [{ cause: 'remote-bye' }]]);
  expect(bob.counts.retransmissionsOut).toBeGreaterThan(5);
});

test('A callee who hangs up at once waits for the ACK', async () => {
  const { call, invite, bob } = await ringingCall();

  const { acknowledged, dialog } = invite.accept({ body: SDP });
  const bye = await dialog.bye();

  expect(await acknowledged).not.toBeNull();
  expect(bye?.status).toBe(200);
  expect((await call.outcome).response.status).toBe(200);
  await eventually(() => bob.sizes.dialogs === 0, 'no dialog is left');
});

test('Two BYEs that cross are both answered with 200', async () => {
  const { caller, callee } = await answeredCall();

  const byes = await Promise.all([caller.bye(), callee.bye()]);

  expect(byes.map((response) => response?.status)).toEqual([200, 200]);
});

test('Two INVITEs that cross are both served in the end', async () => {
  const { caller, callee } = await answeredCall();
  for (const dialog of [caller, callee]) {
    dialog.on('reinvite', ({ respond }) => setTimeout(() => respond(200, { body: SDP }), 5));
  }

  const responses = await Promise.all([
    caller.reinvite({ body: SDP }),
    callee.reinvite({ body: SDP }),
  ]);

  expect(responses.map(({ status }) => status)).toEqual([200, 200]);
}, 10_000);

test('A dialog takes one INVITE of ours at a time', async () => {
  const { caller, callee } = await answeredCall();
  callee.on('reinvite', ({ respond }) => respond(200, { body: SDP }));

  const first = caller.reinvite({ body: SDP });

  await expect(caller.reinvite({ body: SDP })).rejects.toThrow('another is in progress');
  expect((await first).status).toBe(200);
});

test.each([
  'BYE',
  'INFO',
])('%s with guessed tags gets 481 and leaves the call up', async (method) => {
  const { callee, caller } = await answeredCall();
  const { alice, bobUri } = pair ?? (await startPair());
  const guess = { uri: bobUri, callId: caller.data.callId, sequence: 99 };

  const forged = [
    await alice.request({ ...guess, method, from: '<sip:x@y>;tag=no', to: '<sip:b@c>;tag=no' }),
    await alice.request({
      ...guess,
      method,
      from: `<sip:x@y>;tag=${caller.data.localTag}`,
      to: '<sip:b@c>;tag=no',
    }),
  ];

  expect(forged.map(({ status }) => status)).toEqual([481, 481]);
  expect(callee.state).toBe('confirmed');
});
