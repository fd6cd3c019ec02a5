/** Refreshes of a session, and what the peer says is too short for it. */
import { afterEach, expect, test } from 'vitest';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { SDP } from './messages.ts';
import { ScriptedPeer } from './scripted-peer.ts';

const LISTEN = [{ protocol: 'UDP', address: '127.0.0.1', port: 0 }] as const;
const SESSION_TIMER = { intervalMs: 100_000, intervalMsMin: 90_000 };

let stop: () => Promise<void> = async () => undefined;
afterEach(() => stop());

/** A call to the peer, whose INVITE it has still to answer. */
async function call() {
  const clock = new FakeClock();
  const userAgent = new UserAgent({ listen: LISTEN, clock, sessionTimer: SESSION_TIMER });
  const peer = await new ScriptedPeer().start();
  await userAgent.start();
  stop = async () => {
    peer.stop();
    await userAgent.stop();
  };
  const invite = userAgent.invite({ uri: peer.uri, body: SDP });
  return { clock, peer, invite };
}

test('A refresh that is too brief is repeated with the minimum of the peer', async () => {
  const { clock, peer, invite } = await call();
  const answer = { Allow: 'UPDATE', 'Session-Expires': '100;refresher=uac' };
  peer.reply(await peer.expect('INVITE'), 200, 'peer', answer);
  await invite.outcome;

  clock.advance(50_000);
  const refused = await peer.expect('UPDATE');
  peer.reply(refused, 422, 'peer', { 'Min-SE': '200' });
  const repeated = await peer.expect('UPDATE', 2);
  peer.reply(repeated, 200, 'peer', { 'Session-Expires': '200;refresher=uac' });

  expect(refused.get('min-se')).toBe('90');
  expect(repeated.get('session-expires')).toBe('200;refresher=uac');
  expect(repeated.get('min-se')).toBe('200');
});

test('A refresh keeps to the minimum that the INVITE was told', async () => {
  const { clock, peer, invite } = await call();
  peer.reply(await peer.expect('INVITE'), 422, 'peer', { 'Min-SE': '200' });
  const answer = { Allow: 'UPDATE', 'Session-Expires': '200;refresher=uac' };
  peer.reply(await peer.expect('INVITE', 2), 200, 'peer', answer);
  await invite.outcome;

  clock.advance(100_000);
  const refresh = await peer.expect('UPDATE');
  peer.reply(refresh, 200, 'peer', { 'Session-Expires': '200;refresher=uac' });

  expect(refresh.get('session-expires')).toBe('200;refresher=uac');
  expect(refresh.get('min-se')).toBe('200');
});

test('A refresh has a limit of retries, whatever the peer answers', async () => {
  const { clock, peer, invite } = await call();
  const answer = { Allow: 'UPDATE', 'Session-Expires': '100;refresher=uac' };
  peer.reply(await peer.expect('INVITE'), 200, 'peer', answer);
  await invite.outcome;

  clock.advance(50_000);
  peer.reply(await peer.expect('UPDATE'), 422, 'peer', { 'Min-SE': '200' });
  peer.reply(await peer.expect('UPDATE', 2), 422, 'peer', { 'Min-SE': '300' });
  await new Promise((resolve) => setTimeout(resolve, 100));

  expect(peer.received.filter(({ method }) => method === 'UPDATE')).toHaveLength(2);
});
