/** What may be done with a call in each of its states, and what is left behind. */
import { afterEach, expect, test } from 'vitest';
import type { ClientInvite } from '../../src/sip/client-invite.ts';
import type { Dialog } from '../../src/sip/dialog/dialog.ts';
import type { OutgoingInvite } from '../../src/sip/own-messages.ts';
import type { ServerInvite } from '../../src/sip/server-invite.ts';
import { STANDARD_TIMERS } from '../../src/sip/transaction/timers.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { SDP } from './messages.ts';
import { eventually, next, type Pair, startPair, stopPair } from './user-agents.ts';

let pair: Pair | undefined;

afterEach(async () => {
  if (pair !== undefined) await stopPair(pair);
  pair = undefined;
});

interface Ringing {
  readonly clock: FakeClock;
  readonly call: ClientInvite;
  readonly invite: ServerInvite;
  readonly pair: Pair;
}

/** A call that waits for its answer, while time stands still. */
async function ringing(options: Partial<OutgoingInvite> = { body: SDP }): Promise<Ringing> {
  const clock = new FakeClock();
  const parts = { clock, timers: STANDARD_TIMERS };
  pair = await startPair('UDP', { alice: parts, bob: parts });
  const invited = next<[ServerInvite]>(pair.bob, 'invite');
  const call = pair.alice.invite({ uri: pair.bobUri, ...options });
  const [invite] = await invited;
  return { clock, call, invite, pair };
}

async function answered() {
  const world = await ringing();
  const { dialog: callee, acknowledged } = world.invite.accept({ body: SDP });
  const { dialog: caller } = await world.call.outcome;
  await acknowledged;
  if (caller === null) throw new Error('The call was not answered');
  return { ...world, caller, callee };
}

/** Lets everything on its way arrive. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 30));

test.each([
  ['progress', 99],
  ['progress', 200],
  ['reject', 299],
  ['reject', 700],
] as const)('ServerInvite.%s refuses the status %d and goes on ringing', async (way, status) => {
  const { invite } = await ringing();

  expect(() => invite[way](status)).toThrow(RangeError);
  expect(invite.state).toBe('ringing');
});

test('ServerInvite is answered once', async () => {
  const { invite, call } = await ringing();

  invite.accept({ body: SDP });
  await call.outcome;

  expect(invite.state).toBe('accepted');
  expect(() => invite.progress(180)).toThrow('it is accepted');
  expect(() => invite.accept()).toThrow('it is accepted');
  expect(invite.reject(486)).toBeNull();
});

test('ServerInvite is refused once', async () => {
  const { invite, call } = await ringing();

  invite.reject(486);
  const { response } = await call.outcome;

  expect([invite.state, call.state, response.status]).toEqual(['rejected', 'rejected', 486]);
  expect(invite.reject(603)).toBeNull();
  expect(() => invite.accept()).toThrow('it is rejected');
});

test('ServerInvite keeps the tag that a response has carried', async () => {
  const { invite } = await ringing();
  invite.chooseTag('one');
  invite.progress(180);

  invite.chooseTag('two');

  expect(invite.localTag).toBe('one');
});

test('a call that was answered is neither cancelled nor refused for ringing too long', async () => {
  const { clock, call, invite, caller, callee } = await answered();

  clock.advance(700_000);
  await settled();

  expect([call.state, call.isCancelled, invite.state]).toEqual(['accepted', false, 'accepted']);
  expect([caller.state, callee.state]).toEqual(['confirmed', 'confirmed']);
});

test('a call that was refused is not cancelled any more', async () => {
  const { clock, call, invite } = await ringing();
  invite.reject(486);
  await call.outcome;

  clock.advance(200_000);

  expect(call.isCancelled).toBe(false);
});

test('a call that was refused leaves no early dialog on either side', async () => {
  const { call, invite, pair: agents } = await ringing();
  const early = next<[unknown, Dialog | null]>(call, 'provisional');
  invite.progress(180);
  const [, dialog] = await early;
  const ended = dialog && next<[{ readonly cause: string }]>(dialog, 'ended');

  invite.reject(480);
  await call.outcome;

  expect(await ended).toMatchObject([{ cause: 'unanswered' }]);
  expect([agents.alice.sizes.dialogs, agents.bob.sizes.dialogs]).toEqual([0, 0]);
});

test('either side of a call without an offer may make one while it rings', async () => {
  const { call, invite } = await ringing({});
  const early = next<[unknown, Dialog | null]>(call, 'provisional');
  invite.progress(180);
  const [, caller] = await early;

  const [fromCaller, fromCallee] = [
    await caller?.request('UPDATE', { body: SDP }),
    await invite.dialog.request('UPDATE', { body: SDP }),
  ];

  // Without a listener the offer is not accepted; but it was sent.
  expect([fromCaller?.status, fromCallee.status]).toEqual([488, 488]);
});

test('a re-INVITE that is refused has no ACK to wait for', async () => {
  const { caller, callee } = await answered();
  const taken = new Promise<unknown>((resolve) => {
    callee.on('reinvite', (reinvite) => {
      reinvite.respond(488);
      resolve(reinvite.acknowledged);
    });
  });

  const response = await caller.reinvite({ body: SDP });

  expect([response.status, await taken]).toEqual([488, null]);
});

test('a re-INVITE that was answered is not refused later', async () => {
  const { clock, caller, callee } = await answered();
  const finals: number[] = [];
  callee.on('reinvite', ({ flow, respond }) => {
    respond(183);
    respond(200, { body: SDP });
    finals.push(flow.remote.port);
  });
  const response = await caller.reinvite({ body: SDP });
  await settled();

  clock.advance(40_000);
  await settled();

  expect([response.status, caller.state, callee.state]).toEqual([200, 'confirmed', 'confirmed']);
  expect(finals).toEqual([caller.flow.local.port]);
});

test('a re-INVITE without an answer is refused with 500 after 64*T1', async () => {
  const { clock, caller, callee } = await answered();
  const arrived = next(callee, 'reinvite');
  callee.on('reinvite', ({ respond }) => void respond(183));
  const response = caller.reinvite({ body: SDP });
  await arrived;
  await settled();

  clock.advance(32_000);

  expect((await response).status).toBe(500);
});

test('an ACK goes out once', async () => {
  const { caller, callee } = await answered();
  callee.on('reinvite', ({ respond }) => respond(200, { body: SDP }));
  await caller.reinvite({ body: SDP, acknowledge: 'manual' });

  await caller.ack();

  await expect(caller.ack()).rejects.toThrow('no 2xx waits for it');
});

test('both user agents are empty when a call is over', async () => {
  const { clock, caller, pair: agents } = await answered();

  await caller.bye();
  clock.advance(100_000);
  await settled();

  const { alice, bob } = agents;
  await eventually(() => alice.sizes.transactions + bob.sizes.transactions === 0, 'no transaction');
  expect([alice.sizes.dialogs, bob.sizes.dialogs]).toEqual([0, 0]);
});
