/** Whole calls on the wire, compared with reviewed golden files. */
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Dialog } from '../../src/sip/dialog/dialog.ts';
import { reasonPhrase } from '../../src/sip/message/status.ts';
import type { ServerInvite } from '../../src/sip/server-invite.ts';
import { STANDARD_TIMERS } from '../../src/sip/transaction/timers.ts';
import type { UserAgentOptions } from '../../src/sip/user-agent-options.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { SDP } from './messages.ts';
import { eventually, next, type Pair, seededChance, startPair, stopPair } from './user-agents.ts';

const HOLD = `${SDP}a=sendonly\r\n`;

let pair: Pair | undefined;

afterEach(async () => {
  if (pair !== undefined) await stopPair(pair);
  pair = undefined;
});

/** Bytes that look random and are the same in every run. */
function seededBytes(seed: number): (count: number) => Uint8Array {
  const chance = seededChance(seed);
  return (count) => new Uint8Array(count).map(() => Math.floor(256 * chance()));
}

/** Two user agents whose time stands still, and all that Alice sends and receives. */
async function openFlow(
  parts: {
    readonly alice?: Partial<UserAgentOptions>;
    readonly bob?: Partial<UserAgentOptions>;
  } = {},
) {
  const lines: string[] = [];
  const write = (arrow: string, bytes: Buffer) => lines.push(`${arrow} ${bytes.toString()}`);
  const trace: UserAgentOptions['trace'] = {
    sent: (bytes) => write('>', bytes),
    received: (message) => write('<', message.toBuffer()),
  };
  const clock = new FakeClock();
  pair = await startPair('UDP', {
    alice: { clock, trace, randomBytes: seededBytes(1), timers: STANDARD_TIMERS, ...parts.alice },
    bob: { clock, randomBytes: seededBytes(2), timers: STANDARD_TIMERS, ...parts.bob },
  });
  const { alice, bob, bobUri } = pair;
  const port = (userAgent: typeof alice) => userAgent.addresses[0]?.port ?? 0;
  const text = () =>
    [...lines, ...[alice, bob].map(({ counts }) => JSON.stringify(countsOf(counts)))]
      .join('\n')
      .replaceAll(`127.0.0.1:${port(alice)}`, 'alice')
      .replaceAll(`127.0.0.1:${port(bob)}`, 'bob')
      .replaceAll(`rport=${port(alice)}`, 'rport=alice')
      .replaceAll(`rport=${port(bob)}`, 'rport=bob')
      .replaceAll('\r\n', '\n');
  /** Records the outcome of a forbidden action. */
  const note = async (what: Promise<{ readonly status: number } | null>) => {
    const status = await what.then(
      (response) => response?.status,
      (error: unknown) => String(error),
    );
    lines.push(`= ${status}`);
  };
  return { alice, bob, bobUri, clock, text, note };
}

/** The engine's own counts, as they are shown to operators. */
function countsOf(counts: Pair['alice']['counts']) {
  const maps = [counts.rejected, counts.responsesIn, counts.responsesOut].map((map) => [...map]);
  const { messagesIn, messagesOut, retransmissionsIn, retransmissionsOut, dropped } = counts;
  return { messagesIn, messagesOut, retransmissionsIn, retransmissionsOut, dropped, maps };
}

type Flow = Awaited<ReturnType<typeof openFlow>>;

/** A call that Bob answers, both of whose sides are there. */
async function answered(
  { alice, bob, bobUri }: Flow,
  answer: (invite: ServerInvite) => Promise<unknown> | unknown = () => undefined,
  options: Partial<Parameters<typeof alice.invite>[0]> = {},
): Promise<{ caller: Dialog; callee: Dialog }> {
  const invited = next<[ServerInvite]>(bob, 'invite');
  const call = alice.invite({ uri: bobUri, body: SDP, contactUser: 'alice', ...options });
  const [invite] = await invited;
  await answer(invite);
  const { dialog: callee, acknowledged } = invite.accept({ body: SDP });
  const { dialog: caller } = await call.outcome;
  await acknowledged;
  if (caller === null) throw new Error('The call was not answered');
  return { caller, callee };
}

async function plain(flow: Flow): Promise<void> {
  const { caller, callee } = await answered(flow, (invite) => void invite.progress(180));
  callee.on('request', ({ respond }) => respond(200, { body: 'ok', contentType: 'text/plain' }));
  await caller.request('INFO', { body: 'one', contentType: 'text/plain' });
  await caller.request('OPTIONS');
  await callee.request('OPTIONS');
  await caller.bye({ headers: { Reason: 'Q.850;cause=16' } });
}

async function hold(flow: Flow): Promise<void> {
  const { caller, callee } = await answered(flow);
  callee.on('reinvite', ({ respond }) => respond(200, { body: SDP }));
  caller.on('reinvite', ({ respond }) =>
    respond(200, { body: HOLD, headers: { 'X-Held': 'yes' } }),
  );
  await caller.reinvite({ body: HOLD });
  await callee.reinvite({ body: HOLD, headers: { Subject: 'hold' } });
  await caller.request('UPDATE');
  await caller.request('UPDATE', { body: SDP });
  callee.on('request', ({ respond }) => respond(200, { body: SDP }));
  await caller.request('UPDATE', { body: SDP });
  await callee.bye();
}

async function lateOffer(flow: Flow): Promise<void> {
  const { caller, callee } = await answered(flow);
  callee.on('reinvite', ({ respond }) => respond(200, { body: HOLD }));
  await caller.reinvite({ acknowledge: 'manual' });
  await caller.ack({ body: SDP, headers: { 'X-Ack': 'yes' } });
  await caller.request('INFO').catch(() => undefined);
  await caller.bye();
}

async function reliable(flow: Flow): Promise<void> {
  const { caller } = await answered(
    flow,
    async (invite) => {
      await invite.progress(183, { body: SDP }).acknowledged;
      await invite.progress(180).acknowledged;
    },
    { headers: { Require: '100rel' } },
  );
  await caller.bye();
}

async function byChoice(flow: Flow): Promise<void> {
  const { caller } = await answered(flow, async (invite) => {
    invite.chooseTag('chosen');
    await invite.progress(183, { body: SDP, reliable: true }).acknowledged;
    invite.progress(199, { reason: 'Almost' });
  });
  await caller.bye();
}

async function refused(flow: Flow): Promise<void> {
  const { alice, bob, bobUri } = flow;
  const answers = [
    (invite: ServerInvite) => invite.reject(486, { headers: { 'Retry-After': '9' } }),
    (invite: ServerInvite) =>
      invite.reject(302, { headers: { Contact: '<sip:elsewhere@192.0.2.1>' }, reason: 'Gone' }),
    (invite: ServerInvite) => invite.reject(699),
  ];
  bob.on('invite', (invite) => answers.shift()?.(invite));
  for (const user of ['one', 'two', 'three']) {
    await alice.invite({ uri: bobUri, body: SDP, contactUser: user }).outcome;
  }
}

async function cancelled(flow: Flow): Promise<void> {
  const { alice, bob, bobUri } = flow;
  bob.on('invite', (invite) => void invite.progress(180));
  const call = alice.invite({ uri: bobUri, body: SDP });
  await next(call, 'provisional');
  call.cancel();
  await call.outcome;
}

async function outside(flow: Flow): Promise<void> {
  const { alice, bob, bobUri } = flow;
  await alice.request({ method: 'OPTIONS', uri: bobUri });
  await alice.request({ method: 'MESSAGE', uri: bobUri, body: 'hello', contentType: 'text/plain' });
  await alice.request({ method: 'BYE', uri: bobUri });
  bob.on('request', ({ respond }) => respond(202, { headers: { 'X-Many': ['one', 'two'] } }));
  await alice.request({
    ...{ method: 'MESSAGE', uri: bobUri, from: '"Alice" <sip:alice@192.0.2.1>' },
    ...{ to: '<sip:bob@192.0.2.2>', callId: 'chosen', sequence: 7, route: [`<${bobUri};lr>`] },
  });
  bob.drain();
  await alice.request({ method: 'OPTIONS', uri: bobUri });
  await alice.invite({ uri: bobUri }).outcome;
  bob.resume();
  await alice.request({ method: 'OPTIONS', uri: bobUri });
}

async function transferred(flow: Flow): Promise<void> {
  const reported = Promise.withResolvers<void>();
  const { caller, callee } = await answered(flow);
  callee.on('request', async (request) => {
    if (request.request.method !== 'REFER') return;
    request.respond(202);
    for (const status of [100, 180, 200]) {
      await callee.request('NOTIFY', {
        headers: {
          Event: `refer;id=${request.request.cseq.seq}`,
          'Subscription-State': status < 200 ? 'active;expires=60' : 'terminated;reason=noresource',
        },
        contentType: 'message/sipfrag;version=2.0',
        body: `SIP/2.0 ${status} ${reasonPhrase(status)}\r\n`,
      });
    }
    reported.resolve();
  });
  caller.on('request', ({ respond }) => respond(200));
  await caller.request('REFER', {
    headers: { 'Refer-To': '<sip:carol@example.com>', 'Referred-By': '<sip:alice>' },
  });
  await reported.promise;
  await caller.bye();
}

async function endedEarly(flow: Flow): Promise<void> {
  const { alice, bob, bobUri } = flow;
  const invited = next<[ServerInvite]>(bob, 'invite');
  const call = alice.invite({ uri: bobUri, body: SDP });
  const [invite] = await invited;
  invite.progress(180);
  await next(call, 'provisional');
  await invite.dialog.request('INFO').catch(() => undefined);
  invite.reject(480, { reason: 'Not now' });
  await call.outcome;
}

/** Both sides try to change the session while an offer is still to be answered. */
async function offersTooSoon(flow: Flow): Promise<void> {
  const { alice, bob, bobUri, note } = flow;
  const invited = next<[ServerInvite]>(bob, 'invite');
  const call = alice.invite({ uri: bobUri, body: SDP });
  const [invite] = await invited;
  const early = next<[unknown, Dialog | null]>(call, 'provisional');
  invite.progress(183, { body: SDP });
  const [, caller] = await early;
  const callee = invite.dialog;
  if (caller === null) throw new Error('Expected an early dialog');
  await note(caller.request('UPDATE', { body: HOLD }));
  await note(callee.request('UPDATE', { body: HOLD }));
  await note(caller.request('UPDATE'));
  await note(caller.reinvite({ body: HOLD }));
  await invite.accept({ body: SDP }).acknowledged;
  await call.outcome;
  callee.on('reinvite', async ({ respond }) => {
    await note(callee.request('UPDATE', { body: HOLD }));
    await note(callee.reinvite({ body: HOLD }));
    await note(caller.request('UPDATE', { body: HOLD }));
    await note(caller.reinvite({ body: HOLD }));
    respond(200, { body: SDP });
  });
  await note(caller.reinvite({ body: HOLD }));
  await note(caller.bye());
  await note(caller.request('INFO'));
  await note(caller.reinvite({ body: SDP }));
  await note(caller.bye());
}

/** The session changes before the call is answered. */
async function earlyUpdate(flow: Flow): Promise<void> {
  const { alice, bob, bobUri, note } = flow;
  const invited = next<[ServerInvite]>(bob, 'invite');
  const call = alice.invite({ uri: bobUri, body: SDP, headers: { Require: '100rel' } });
  const [invite] = await invited;
  const early = next<[unknown, Dialog | null]>(call, 'provisional');
  await invite.progress(183, { body: SDP }).acknowledged;
  const [, caller] = await early;
  if (caller === null) throw new Error('Expected an early dialog');
  for (const side of [caller, invite.dialog]) {
    side.on('request', ({ respond }) => respond(200, { body: HOLD }));
  }
  await note(caller.request('UPDATE', { body: HOLD }));
  await note(invite.dialog.request('UPDATE', { body: SDP }));
  await invite.accept().acknowledged;
  await call.outcome;
  await note(caller.bye());
}

/** A call that rings until its time limit. */
async function rungOut(flow: Flow): Promise<void> {
  const { alice, bob, bobUri, clock, note } = flow;
  const invited = next<[ServerInvite]>(bob, 'invite');
  const call = alice.invite({ uri: bobUri, body: SDP, ringTimeoutMs: 700_000 });
  const [invite] = await invited;
  const early = next<[unknown, Dialog | null]>(call, 'provisional');
  invite.progress(180);
  const [, dialog] = await early;
  clock.advance(599_999);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await note(Promise.resolve({ status: invite.state === 'ringing' ? 180 : 0 }));
  clock.advance(1);
  const { response } = await call.outcome;
  await note(Promise.resolve(response));
  await note(Promise.resolve({ status: dialog?.state === 'ended' ? 487 : 0 }));
  await note(Promise.resolve(invite.reject(486)));
}

const TIMER = { intervalMs: 100_000, intervalMsMin: 90_000 };

const refreshedAfter =
  (waitMs: number) =>
  async (flow: Flow): Promise<void> => {
    const { alice } = flow;
    const { caller } = await answered(flow);
    flow.clock.advance(waitMs);
    await eventually(() => (alice.counts.responsesIn.get(200) ?? 0) >= 2, 'the refresh');
    await caller.bye();
  };

const PRODUCT = { alice: { product: 'Alice/1' }, bob: { product: 'Bob/2' } };

test.each([
  ['plain', plain, PRODUCT],
  ['hold', hold, {}],
  ['late-offer', lateOffer, {}],
  ['reliable', reliable, {}],
  ['reliable-by-choice', byChoice, {}],
  ['refused', refused, {}],
  ['cancelled', cancelled, {}],
  ['outside-of-dialogs', outside, PRODUCT],
  ['transferred', transferred, {}],
  ['ended-early', endedEarly, {}],
  ['offers-too-soon', offersTooSoon, {}],
  ['early-update', earlyUpdate, {}],
  ['rung-out', rungOut, {}],
  ['refreshed', refreshedAfter(50_000), { alice: { sessionTimer: TIMER } }],
  [
    'interval-too-small',
    refreshedAfter(100_000),
    {
      alice: { sessionTimer: TIMER },
      bob: { sessionTimer: { intervalMs: 300_000, intervalMsMin: 200_000 } },
    },
  ],
] as const)('the call "%s" is on the wire as it always was', async (name, play, parts) => {
  const flow = await openFlow(parts);

  await play(flow);

  const golden = join(import.meta.dirname, 'call-flows', `${name}.golden`);
  await expect(`${flow.text()}\n`).toMatchFileSnapshot(golden);
});
