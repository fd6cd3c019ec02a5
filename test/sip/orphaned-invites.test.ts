/** INVITEs that a stopped user agent left without a final response, taken up by another one on the same port. */
import { afterEach, expect, test } from 'vitest';
import type { SipMessage } from '../../src/sip/message/message.ts';
import type { ServerInvite } from '../../src/sip/server-invite.ts';
import type { Target } from '../../src/sip/transport/next-hop.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { freePort } from '../support/network/free-ports.ts';
import { eventually, losingSocket, next, SHORT_TIMERS, uriOf } from './user-agents.ts';

const address = '127.0.0.1';
const opened: UserAgent[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.stop()));
});

async function start(port = 0, isDead = () => false): Promise<UserAgent> {
  const listen = [{ protocol: 'UDP' as const, address, port }];
  const openUdpSocket = losingSocket(isDead);
  const userAgent = new UserAgent({ listen, timers: SHORT_TIMERS, openUdpSocket });
  await userAgent.start();
  opened.push(userAgent);
  return userAgent;
}

/** Bob's telephone rings and its caller has died: `invite` is the request as sent, `ours` as Bob received it. */
async function ringAndDie() {
  const bob = await start();
  const port = await freePort();
  const alice = await start(port);
  const call = alice.invite({ uri: uriOf(bob, 'UDP'), body: 'v=0\r\n' });
  const [[invite], [ours]] = await Promise.all([
    next<[SipMessage]>(call, 'sent'),
    next<[ServerInvite]>(bob, 'invite'),
  ]);
  ours.progress(180);
  await next(call, 'provisional');
  await alice.stop();
  const target: Target = { protocol: 'UDP', address, port: bob.addresses[0]?.port ?? 0 };
  return { ours, invite, target, again: () => start(port) };
}

test('OrphanedInvites.cancel ends the ringing at the far end, and acknowledges its refusal', async () => {
  const { ours, invite, target, again } = await ringAndDie();
  const after = await again();
  const cancelled = next(ours, 'cancelled');

  await after.endOrphan('out', invite, target);

  await cancelled;
  // CANCEL, and the ACK of its 487.
  expect(after.counts.messagesOut).toBe(2);
});

test('OrphanedInvites.cancel ends by BYE what was answered meanwhile', async () => {
  const { ours, invite, target, again } = await ringAndDie();
  const { dialog } = ours.accept();
  const ended = next<[{ cause: string }]>(dialog, 'ended');
  const acknowledged = next(dialog, 'ack');
  const after = await again();

  await after.endOrphan('out', invite, target);

  await acknowledged;
  expect((await ended)[0].cause).toBe('remote-bye');
});

test('OrphanedInvites.cancel does nothing about a call that this user agent holds', async () => {
  const [alice, bob] = [await start(), await start()];
  const call = alice.invite({ uri: uriOf(bob, 'UDP'), acknowledge: 'automatic' });
  const [[invite], [ours]] = await Promise.all([
    next<[SipMessage]>(call, 'sent'),
    next<[ServerInvite]>(bob, 'invite'),
  ]);
  const target: Target = { protocol: 'UDP', address, port: bob.addresses[0]?.port ?? 0 };

  await alice.endOrphan('out', invite, target);
  ours.accept();
  const { dialog } = await call.outcome;

  expect(dialog?.state).toBe('confirmed');
});

test('OrphanedInvites.refuse gives a caller his final answer', async () => {
  const port = await freePort();
  let isDead = false;
  const bob = await start(port, () => isDead);
  const alice = await start();
  const call = alice.invite({ uri: uriOf(bob, 'UDP') });
  const [invite] = await next<[ServerInvite]>(bob, 'invite');
  invite.progress(180);
  await next(call, 'provisional');
  // Killed: it cannot even say 487.
  isDead = true;
  await bob.stop();
  const after = await start(port);
  const { flow, request } = invite;

  await after.endOrphan('in', request, { protocol: 'UDP', ...flow.remote });
  const { response } = await call.outcome;

  expect([response.status, response.get('retry-after')]).toEqual([503, '5']);
  await eventually(() => after.counts.messagesIn === 1, 'the ACK');
});
