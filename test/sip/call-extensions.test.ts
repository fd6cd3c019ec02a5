/** What dialogs can beyond a plain call: hold, UPDATE, PRACK, session timers. */
import { afterEach, describe, expect, test } from 'vitest';
import type { OutgoingInvite } from '../../src/sip/own-messages.ts';
import type { Acceptance, ServerInvite } from '../../src/sip/server-invite.ts';
import type { UserAgentOptions } from '../../src/sip/user-agent-options.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { SDP } from './messages.ts';
import {
  eventually,
  losingSocket,
  next,
  type Pair,
  SHORT_TIMERS,
  startPair,
  stopPair,
} from './user-agents.ts';

const HOLD = `${SDP}a=sendonly\r\n`;

let pair: Pair | undefined;

afterEach(async () => {
  if (pair !== undefined) await stopPair(pair);
  pair = undefined;
});

interface CallOptions {
  readonly invite?: Partial<OutgoingInvite>;
  readonly alice?: Partial<UserAgentOptions>;
  readonly bob?: Partial<UserAgentOptions>;
  readonly accept?: (invite: ServerInvite) => Acceptance | Promise<Acceptance>;
}

async function answeredCall(options: CallOptions = {}) {
  pair = await startPair('UDP', { alice: options.alice ?? {}, bob: options.bob ?? {} });
  const { alice, bob, bobUri } = pair;
  const invited = next<[ServerInvite]>(bob, 'invite');
  const call = alice.invite({ uri: bobUri, body: SDP, ...options.invite });
  const [invite] = await invited;
  const accept = options.accept ?? ((each: ServerInvite) => each.accept({ body: SDP }));
  const { dialog: callee, acknowledged } = await accept(invite);
  const { dialog: caller, response } = await call.outcome;
  await acknowledged;
  if (caller === null) throw new Error('call was not answered');
  return { alice, bob, caller, callee, invite, response };
}

describe('Dialog.reinvite', () => {
  test('puts the call on hold and takes it back', async () => {
    const { caller, callee } = await answeredCall();
    const offers: string[] = [];
    callee.on('reinvite', ({ request, respond }) => {
      offers.push(request.body.toString());
      respond(200, { body: SDP });
    });

    const hold = await caller.reinvite({ body: HOLD });
    const resume = await caller.reinvite({ body: SDP });

    expect([hold.status, resume.status]).toEqual([200, 200]);
    expect(offers).toEqual([HOLD, SDP]);
  });

  test('resolves with the refusal and leaves the call up', async () => {
    const { caller } = await answeredCall();

    const refused = await caller.reinvite({ body: HOLD });

    expect(refused.status).toBe(488);
    expect(caller.state).toBe('confirmed');
  });

  test('lets the application bring the answer in its ACK', async () => {
    const { caller, callee } = await answeredCall();
    const acknowledged = new Promise((resolve) => {
      callee.on('reinvite', (reinvite) => {
        reinvite.respond(200, { body: HOLD });
        void reinvite.acknowledged.then((ack) => resolve(ack?.body.toString()));
      });
    });

    const offer = await caller.reinvite({ acknowledge: 'manual' });
    await caller.ack({ body: SDP });

    expect(offer.body.toString()).toBe(HOLD);
    expect(await acknowledged).toBe(SDP);
  });

  test('moves the dialog to the new Contact', async () => {
    const { caller, callee } = await answeredCall();
    callee.on('reinvite', ({ respond }) => respond(200, { body: SDP }));

    await caller.reinvite({ body: SDP, headers: { Contact: '<sip:moved@127.0.0.1:9>' } });

    expect(callee.data.remoteTarget).toBe('sip:moved@127.0.0.1:9');
  });
});

describe('UPDATE', () => {
  test('without a body is answered by the engine', async () => {
    const { caller } = await answeredCall();

    const response = await caller.request('UPDATE');

    expect(response.status).toBe(200);
  });

  test('with an offer is answered by the application', async () => {
    const { caller, callee } = await answeredCall();
    const unheard = await caller.request('UPDATE', { body: HOLD });
    callee.on('request', ({ respond }) => respond(200, { body: SDP }));

    const heard = await caller.request('UPDATE', { body: HOLD });

    expect(unheard.status).toBe(488);
    expect(heard.body.toString()).toBe(SDP);
  });
});

describe('reliable provisional responses', () => {
  const REQUIRE = { headers: { Require: '100rel' } };

  test('are acknowledged by PRACK, each before the next', async () => {
    const pracks: (string | undefined)[] = [];
    const accept = async (invite: ServerInvite) => {
      const sent = [invite.progress(183, { body: SDP }), invite.progress(180)];
      for (const { acknowledged } of sent) pracks.push((await acknowledged)?.get('rack'));
      return invite.accept({ body: SDP });
    };

    const { invite } = await answeredCall({ invite: REQUIRE, accept });

    const [first = '', second = ''] = pracks;
    expect(invite.request.hasToken('require', '100rel')).toBe(true);
    expect(Number.parseInt(second, 10)).toBe(Number.parseInt(first, 10) + 1);
    expect(first).toMatch(/^\d+ 1 INVITE$/);
  });

  test('are used where both can and the application wants', async () => {
    const accept = async (invite: ServerInvite) => {
      const { message, acknowledged } = invite.progress(183, { reliable: true });
      expect(message.get('require')).toBe('100rel');
      expect(await acknowledged).toMatchObject({ method: 'PRACK' });
      return invite.accept({ body: SDP });
    };

    const { response } = await answeredCall({ accept });

    expect(response.status).toBe(200);
  });

  test('hold the answer back until their PRACK is there', async () => {
    let lostCount = 0;
    const lossy = losingSocket((bytes) => bytes.toString().startsWith('PRACK') && lostCount++ < 2);
    const order: string[] = [];
    const accept = (invite: ServerInvite) => {
      const { acknowledged } = invite.progress(183, { body: SDP });
      void acknowledged.then(() => order.push('PRACK'));
      const acceptance = invite.accept({ body: SDP });
      void acceptance.acknowledged.then(() => order.push('ACK'));
      return acceptance;
    };

    await answeredCall({ invite: REQUIRE, alice: { openUdpSocket: lossy }, accept });

    expect(order).toEqual(['PRACK', 'ACK']);
    expect(lostCount).toBeGreaterThan(2);
  });

  test('end in 504 when no PRACK comes', async () => {
    const lossy = losingSocket((bytes) => bytes.toString().startsWith('PRACK'));
    const clock = new FakeClock();
    // The caller gives her PRACK up after 64*T1 as well, and ends the call by BYE; her time stands still, so that his end comes first.
    const options = { alice: { openUdpSocket: lossy, clock: new FakeClock() }, bob: { clock } };
    pair = await startPair('UDP', options);
    const { alice, bob, bobUri } = pair;
    const invited = next<[ServerInvite]>(bob, 'invite');
    const call = alice.invite({ uri: bobUri, body: SDP, ...REQUIRE });
    const [invite] = await invited;
    const { acknowledged } = invite.progress(183);

    clock.advance(64 * SHORT_TIMERS.t1Ms);

    expect((await call.outcome).response.status).toBe(504);
    expect(await acknowledged).toBeNull();
  });
});

describe('session timers', () => {
  const ONE_SECOND = { sessionTimer: { intervalMs: 1000, intervalMsMin: 1000 } };
  const TWO_SECONDS = { sessionTimer: { intervalMs: 2000, intervalMsMin: 2000 } };

  test('are agreed on, and refreshed by UPDATE', async () => {
    const clock = new FakeClock();
    const options = { ...ONE_SECOND, clock };
    const { alice, bob, caller, response } = await answeredCall({ alice: options, bob: options });
    const before = { alice: alice.counts.messagesIn, bob: bob.counts.messagesIn };

    clock.advance(600);
    await eventually(() => alice.counts.messagesIn > before.alice, 'the answer to the refresh');
    clock.advance(450);

    expect(response.get('session-expires')).toBe('1;refresher=uac');
    expect(caller.state).toBe('confirmed');
    expect(bob.counts.messagesIn).toBeGreaterThan(before.bob);
    expect(alice.sizes.dialogs).toBe(1);
  });

  test('are raised to what the peer asks with 422', async () => {
    const { response } = await answeredCall({ alice: ONE_SECOND, bob: TWO_SECONDS });

    expect(response.get('session-expires')).toBe('2;refresher=uac');
  });

  test('end a call whose peer has gone', async () => {
    const clock = new FakeClock();
    // Where time stands still nothing is refreshed.
    const { callee } = await answeredCall({
      alice: { ...ONE_SECOND, clock: new FakeClock() },
      bob: { ...ONE_SECOND, clock },
    });
    const ended = next(callee, 'ended');

    clock.advance(1000);

    expect(await ended).toMatchObject([{ cause: 'session-expired' }]);
  });
});
