/** A far end that moves its call: what is allowed, and what is on record. */
import { expect, test } from 'vitest';
import { decideRefer, FarEndTransfers } from '../../src/call/session/session-control.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { CarrierError, type IncomingRefer } from '../../src/telephony/carrier.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { AGENT_NUMBER, openCallWorld } from './support/call-world.ts';
import { ScriptedLeg } from './support/scripted-party.ts';

const NEXT = '+12025550177';

/** A REFER that keeps what became of it. */
function referTo(number: string, follow: () => Promise<void> = () => Promise.resolve()) {
  const outcomes: (number | 'followed')[] = [];
  const reasons: string[] = [];
  const refer: IncomingRefer = {
    number,
    refuse: (sipStatus, why) => {
      outcomes.push(sipStatus);
      reasons.push(why);
    },
    follow: () => {
      outcomes.push('followed');
      return follow();
    },
  };
  return { refer, outcomes, reasons };
}

async function connect() {
  const world = await openCallWorld();
  const { leg, talk, over } = await world.answered();
  const { id } = await world.call();
  return {
    ...{ world, leg, talk, id },
    /** What became of a REFER. */
    refer: async (number: string, follow?: () => Promise<void>) => {
      const asked = referTo(number, follow);
      leg.refer(asked.refer);
      await expect.poll(() => asked.outcomes.length).toBeGreaterThan(0);
      return asked;
    },
    /** The timeline between answer and end. */
    timeline: async () => {
      leg.release({ kind: 'far-end' });
      await over;
      const entries = await world.store.calls.timeline(id);
      return entries.slice(2, -1).map(({ kind, details }) => ({ kind, details }));
    },
  };
}

test('CallSession follows the REFER of its far end, tells the agent, and has it on the timeline without the number', async () => {
  const { leg, talk, refer, timeline, world } = await connect();

  const { outcomes } = await refer(NEXT, async () => leg.move('refer'));
  await expect.poll(() => talk.pendingStates).toEqual([true, false]);
  const { status } = await world.call();
  const entries = await timeline();

  expect([outcomes, talk.moves, status]).toEqual([['followed'], 1, 'in_progress']);
  expect(entries).toEqual([{ kind: 'far_end_transfer', details: { method: 'refer' } }]);
  expect(await world.call()).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
});

test.each([
  ['112', /emergency/],
  ['911', /emergency/],
  ['+1911', /emergency/],
  ['2025550177', /E\.164/],
  ['*21*2025550177#', /E\.164/],
  ['+390687654321', /country/],
  ['+18765550123', /country/],
  ['+19005550123', /kind/],
  ['+881612345678', /network/],
  [AGENT_NUMBER, /rings here/],
])('CallSession refuses a REFER to %s with 403', async (number, reason) => {
  const { refer, timeline } = await connect();

  const { outcomes, reasons } = await refer(number);
  const entries = await timeline();

  expect(outcomes).toEqual([403]);
  expect(reasons[0]).toMatch(reason);
  expect(entries).toEqual([{ kind: 'far_end_transfer_failed', details: { reason: reasons[0] } }]);
});

test('CallSession refuses a REFER to the number of any agent here', async () => {
  const { world, refer } = await connect();
  await world.store.agents.insert(buildAgent({ id: 'agent_2', phoneNumber: NEXT }));

  const { outcomes } = await refer(NEXT);

  expect(outcomes).toEqual([403]);
});

test('CallSession goes on with its far end where the number of a REFER does not answer', async () => {
  const { talk, refer, timeline, world } = await connect();
  const message = 'Cannot call through trunk "pbx": it answered 486';

  await refer(NEXT, () => Promise.reject(new CarrierError(message, 486)));
  await expect.poll(() => talk.pendingStates).toEqual([true, false]);
  const { status } = await world.call();

  expect([talk.moves, status]).toEqual([0, 'in_progress']);
  expect(await timeline()).toEqual([
    { kind: 'far_end_transfer_failed', details: { reason: message } },
  ]);
});

test('CallSession takes three REFERs of a call, and refuses the others without a word on the timeline', async () => {
  const { refer, timeline } = await connect();

  const all = [];
  for (let count = 0; count < 6; count += 1) all.push((await refer('112')).outcomes[0]);

  expect(all).toEqual([403, 403, 403, 603, 603, 603]);
  expect(await timeline()).toHaveLength(3);
});

test('FarEndTransfers refuses a REFER with 500 where the account cannot be read', async () => {
  const leg = new ScriptedLeg();
  const kinds: string[] = [];
  const { refer, outcomes } = referTo(NEXT);
  const transfers = new FarEndTransfers({
    parts: {
      isOwnNumber: async () => false,
      accountOf: () => Promise.reject(new Error('Cannot read: the disk is gone')),
    },
    agent: buildAgent({ phoneNumber: AGENT_NUMBER }),
    leg,
    attempts: undefined,
    party: () => undefined,
    hasAgentLeft: () => false,
    timeline: { add: (kind) => kinds.push(kind) },
    log: silentLogger,
  });

  transfers.listen();
  leg.refer(refer);
  await expect.poll(() => outcomes).toEqual([500]);

  expect(kinds).toEqual(['far_end_transfer_failed']);
});

test('CallSession refuses a REFER while the caller and another party talk without the agent', async () => {
  const { talk, refer } = await connect();
  await talk.options.control.transfer(NEXT, '');

  const { outcomes } = await refer(NEXT);

  expect(outcomes).toEqual([491]);
});

test('CallSession puts a far end that was replaced on the timeline', async () => {
  const { leg, talk, timeline } = await connect();

  leg.move('replaces');

  expect(talk.moves).toBe(1);
  expect(await timeline()).toEqual([{ kind: 'far_end_transfer', details: { method: 'replaces' } }]);
});

test.each([
  ['+390687654321', { phoneNumber: AGENT_NUMBER }, ['IT'], true],
  [NEXT, { phoneNumber: AGENT_NUMBER }, ['IT'], false],
  [NEXT, { phoneNumber: null }, null, false],
  [NEXT, { phoneNumber: null }, ['US'], true],
])('decideRefer: %s for %o with the countries %s is allowed: %s', (number, agent, allowedCountries, isAllowed) => {
  expect(decideRefer(number, agent, { allowedCountries }).isAllowed).toBe(isAllowed);
});
