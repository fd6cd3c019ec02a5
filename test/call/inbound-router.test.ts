import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { agentOf, agentOfPhone, refusalOf } from '../../src/call/inbound-router.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { CarrierError } from '../../src/telephony/carrier.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { AGENT_NUMBER, type CallWorld, openCallWorld } from './support/call-world.ts';
import { settle } from './support/outbound-world.ts';
import { ScriptedIncoming, ScriptedLeg } from './support/scripted-party.ts';

test.each([
  ['no agent', undefined, false, 404],
  ['no agent, while the server is full', undefined, true, 404],
  ['a paused agent', buildAgent({ status: 'paused' }), true, 480],
  ['an agent, while the server is full', buildAgent(), true, 503],
  ['an agent', buildAgent(), false, undefined],
])('refusalOf: a call to %s', (_case, agent, isFull, sipStatus) => {
  expect(refusalOf(agent, isFull)?.sipStatus).toBe(sipStatus);
});

test.each([
  ['as it is configured', '+12025550123', 'agent_1'],
  ['without its plus sign', '12025550123', 'agent_1'],
  ['without its country, which could be any', '2025550123', undefined],
  ['with letters', 'sales', undefined],
])('agentOf finds the agent of a number that is sent %s', async (_case, calledNumber, expected) => {
  const agents = new Map([['+12025550123', buildAgent({ id: 'agent_1' })]]);

  const agent = await agentOf(calledNumber, async (number) => agents.get(number));

  expect(agent?.id).toBe(expected);
});

test.each([
  ['404 to a number that no agent has', {}, '+15550109999', { sipStatus: 404 }],
  ['480 to a paused agent', { status: 'paused' }, AGENT_NUMBER, { sipStatus: 480 }],
] as const)('InboundRouter answers %s, and keeps no record', async (_case, agent, to, refusal) => {
  const world = await openCallWorld({ agent });
  const incoming = new ScriptedIncoming(to);

  await world.router.take(incoming);

  expect(incoming.rejections).toEqual([refusal]);
  expect(world.counted).toEqual([`refused ${refusal.sipStatus}`]);
  await expect(world.call()).rejects.toThrow('there is none');
});

test('InboundRouter answers 503 with Retry-After while the server is full, and takes the next call', async () => {
  const world = await openCallWorld({ callsMax: 1 });
  const first = await world.answered();
  const second = new ScriptedIncoming(AGENT_NUMBER);

  await world.router.take(second);
  first.leg.release({ kind: 'far-end' });
  await first.over;
  const third = await world.answered();

  expect(second.rejections).toEqual([{ sipStatus: 503, retryAfterSeconds: 30 }]);
  expect(third.incoming.rejections).toEqual([]);
});

/** Another process has the database for the next `ms`. */
function lockFor({ store }: CallWorld, ms: number): void {
  const other = new Sqlite(store.file);
  onTestFinished(() => void other.close());
  other.exec('begin immediate');
  store.clock.after(ms, () => other.exec('commit'));
}

async function pass({ store }: CallWorld, ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 250) {
    store.clock.advance(250);
    await settle();
  }
}

test('InboundRouter lets a call ring while another process has the database for 4 s, and then answers it', async () => {
  const world = await openCallWorld();
  lockFor(world, 4000);
  const incoming = new ScriptedIncoming(AGENT_NUMBER);
  const leg = new ScriptedLeg();

  const over = world.router.take(incoming);
  incoming.connect(leg);
  await pass(world, 5000);
  leg.release({ kind: 'far-end' });
  await pass(world, 1000);
  await over;

  expect(incoming.rejections).toEqual([]);
  expect(await world.call()).toMatchObject({ status: 'completed' });
  expect((await world.events()).filter((kind) => kind === 'call.ended')).toHaveLength(1);
});

test('InboundRouter refuses a call with Retry-After when the database stays locked', async () => {
  const world = await openCallWorld();
  lockFor(world, 20_000);
  const incoming = new ScriptedIncoming(AGENT_NUMBER);

  const over = world.router.take(incoming);
  await pass(world, 7000);
  await over;

  expect(incoming.rejections).toEqual([{ sipStatus: 503, retryAfterSeconds: 30 }]);
  expect(world.registry.size).toBe(0);
});

test('InboundRouter keeps the record of a call that begins before, and ends after, the database was locked', async () => {
  const world = await openCallWorld();
  const { leg, talk, over } = await world.answered();
  lockFor(world, 6000);
  const entry = { role: 'agent', text: 'Hello.', at: new Date(0) } as const;
  talk.say({ kind: 'said', entry });
  leg.release({ kind: 'far-end' });

  await pass(world, 8000);
  await over;

  const { id, status } = await world.call();
  expect(status).toBe('completed');
  expect((await world.store.calls.transcript(id)).map(({ text }) => text)).toEqual(['Hello.']);
});

test('InboundRouter names the call as it is on record when it answers', async () => {
  const world = await openCallWorld();

  const { incoming } = await world.answered();

  expect(incoming.answers).toEqual([{ callId: (await world.call()).id }]);
});

test('InboundRouter puts a caller who gives up while it rings on record as no_answer', async () => {
  const world = await openCallWorld();
  const incoming = new ScriptedIncoming(AGENT_NUMBER);

  const over = world.router.take(incoming);
  await settle();
  incoming.cancel();
  incoming.fail(new CarrierError('Cannot answer: no port', 500));
  await over;

  expect(await world.call()).toMatchObject({
    status: 'failed',
    endReason: 'no_answer',
    answeredAt: null,
    durationSeconds: 0,
  });
  expect(await world.events()).toEqual(['call.ended']);
  expect(world.counted).toEqual(['missed inbound no_answer']);
  expect(world.registry.size).toBe(0);
});

test.each([
  [487, 'no_answer'],
  [488, 'error'],
  [500, 'error'],
])('InboundRouter puts an answer that fails with %i on record as %s', async (sipStatus, reason) => {
  const world = await openCallWorld();
  const incoming = new ScriptedIncoming(AGENT_NUMBER);

  incoming.fail(new CarrierError('Cannot answer', sipStatus));
  await world.router.take(incoming);

  expect(await world.call()).toMatchObject({ status: 'failed', endReason: reason });
  expect(world.counted).toEqual([`missed inbound ${reason}`]);
});

test('InboundRouter logs one line without a stack for a session that it cannot use', async () => {
  const logged: unknown[] = [];
  const keep = (fields: object, message: string) => void logged.push([message, fields]);
  const world = await openCallWorld({ log: { ...silentLogger, warn: keep, error: keep } });
  const incoming = new ScriptedIncoming(AGENT_NUMBER);

  incoming.fail(new CarrierError('Cannot answer: usable is PCMU; it has G729', 488));
  await world.router.take(incoming);

  const why = 'Cannot answer: usable is PCMU; it has G729';
  expect(logged).toEqual([
    [
      'refused a call for its session description',
      { callId: (await world.call()).id, sipStatus: 488, why },
    ],
  ]);
});

test('InboundRouter answers 503 when the call cannot be put on record', async () => {
  const world = await openCallWorld();
  const incoming = new ScriptedIncoming(AGENT_NUMBER);

  world.isDiskFull = true;
  await world.router.take(incoming);

  expect(incoming.rejections).toEqual([{ sipStatus: 503, retryAfterSeconds: 30 }]);
  expect(world.registry.size).toBe(0);
});

test('InboundRouter never rejects, even when the refusal cannot be sent', async () => {
  const world = await openCallWorld();
  const incoming = new ScriptedIncoming('+15550109999');
  incoming.reject = () => {
    throw new Error('the connection is lost');
  };

  await expect(world.router.take(incoming)).resolves.toBeUndefined();
});

test('InboundRouter refuses a call that still rings when every call is ended', async () => {
  const world = await openCallWorld();
  const incoming = new ScriptedIncoming(AGENT_NUMBER);
  const over = world.router.take(incoming);
  await settle();

  await world.registry.endAll('the server stops');
  incoming.fail(new CarrierError('Cannot answer: rejected', 487));
  await over;

  expect(incoming.rejections).toEqual([{ sipStatus: 503 }]);
  expect(world.registry.size).toBe(0);
});

test('InboundRouter hangs up a call that has lost its agent', async () => {
  const world = await openCallWorld();
  const incoming = new ScriptedIncoming(AGENT_NUMBER);
  const leg = new ScriptedLeg();
  world.onTalk = () => {
    throw new Error('Cannot listen: the listening thread is gone');
  };

  incoming.connect(leg);
  await world.router.take(incoming);

  expect(leg.hangUps).toBe(1);
  expect(world.registry.size).toBe(0);
});

const OWN = buildAgent({ id: 'agent_own', accountId: 'acct_first' });
const SALES = buildAgent({ id: 'agent_sales', accountId: 'acct_first' });
const FOREIGN = buildAgent({ id: 'agent_foreign', accountId: 'acct_other' });

const stores = {
  firstAccountId: async () => 'acct_first',
  findLive: async (accountId: string, id: string) =>
    [OWN, SALES, FOREIGN].find((agent) => agent.accountId === accountId && agent.id === id),
};

test.each([
  ['the agent that it calls', {}, SALES, 'agent_sales'],
  ['no agent by a number without one', {}, undefined, undefined],
  ['its own agent by any other number', { agent: 'agent_own' }, undefined, 'agent_own'],
  ['no agent of another account', {}, FOREIGN, undefined],
  ['its own in the place of one of another account', { agent: 'agent_own' }, FOREIGN, 'agent_own'],
  ['the agents of its account', { account: 'acct_other' }, FOREIGN, 'agent_foreign'],
  ['no agent that its account lacks', { agent: 'agent_foreign' }, undefined, undefined],
])('agentOfPhone gives a telephone %s', async (_, phone, called, id) => {
  expect((await agentOfPhone(phone, called, stores))?.id).toBe(id);
});
