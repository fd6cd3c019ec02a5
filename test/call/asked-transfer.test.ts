/** A transfer that a customer requests, on every kind of leg. */
import { expect, test } from 'vitest';
import { DEFAULT_AGENT_SETTINGS } from '../../src/domain/agent/agent.ts';
import { CarrierError, type TransferOutcome } from '../../src/telephony/carrier.ts';
import { AGENT_NUMBER, openCallWorld } from './support/call-world.ts';
import { openSandboxWorld } from './support/sandbox-world.ts';

const NUMBER = '+390698765432';

const settle = () => new Promise((resolve) => setImmediate(resolve));

const kindsOf = async (world: Awaited<ReturnType<typeof openCallWorld>>) =>
  (await world.store.calls.timeline((await world.call()).id)).map(({ kind }) => kind);

test('CallRegistry hands a call over as the agent would, once the code that asks is done', async () => {
  const world = await openCallWorld();
  const { leg, over } = await world.answered();
  leg.transfer = async (number) => {
    leg.transfers.push(number);
    leg.release({ kind: 'transferred' });
    return 'referred';
  };

  const start = world.registry.transfer((await world.call()).id, NUMBER);
  const before = [...leg.transfers];
  await over;

  expect(start).toBe('begun');
  expect(before).toEqual([]);
  expect(leg.transfers).toEqual([NUMBER]);
  expect(await world.call()).toMatchObject({ status: 'completed', endReason: 'transferred' });
  expect(await world.events()).toEqual(['call.started', 'call.bridged', 'call.ended']);
  expect(await kindsOf(world)).toEqual(['ringing', 'answered', 'transfer', 'ended']);
  const [, bridged] = await world.store.events.listByCall((await world.call()).id);
  expect(JSON.parse(bridged?.body ?? '').data).toMatchObject({
    bridgedTo: NUMBER,
    qualificationSummary: '',
    agentRole: 'left',
  });
});

test('CallRegistry goes on with a call whose transfer was not accepted, notes it on the timeline, and accepts another transfer', async () => {
  const world = await openCallWorld();
  const { leg, over } = await world.answered();
  const message = 'Cannot transfer the call: the far end said 486';
  leg.transfer = () => Promise.reject(new CarrierError(message, 486));
  const { id } = await world.call();

  world.registry.transfer(id, NUMBER);
  await settle();
  const again = world.registry.transfer(id, NUMBER);
  await settle();
  const status = (await world.call()).status;
  leg.release({ kind: 'far-end' });
  await over;

  expect(again).toBe('begun');
  expect(status).toBe('in_progress');
  expect((await world.store.calls.timeline(id))[2]).toMatchObject({
    kind: 'transfer_failed',
    details: { reason: message },
  });
  expect((await world.call()).endReason).toBe('user_hangup');
  expect(await world.events()).toEqual(['call.started', 'call.ended']);
});

test.each([
  'a customer',
  'the agent',
])('CallRegistry refuses a second transfer while one that %s began is under way', async (who) => {
  const world = await openCallWorld();
  const { leg, talk } = await world.answered();
  leg.transfer = () => new Promise(() => undefined);
  const { id } = await world.call();

  if (who === 'a customer') world.registry.transfer(id, NUMBER);
  else void talk.options.control.transfer(NUMBER, '');
  const atOnce = world.registry.transfer(id, NUMBER);
  await settle();

  expect([atOnce, world.registry.transfer(id, NUMBER)]).toEqual(['transferring', 'transferring']);
});

test.each([
  'comes to nothing',
  'succeeds',
])('CallRegistry tells the agent of a pending transfer that %s until it is over', async (how) => {
  const world = await openCallWorld();
  const { leg, talk } = await world.answered();
  const outcome = Promise.withResolvers<TransferOutcome>();
  leg.transfer = () => outcome.promise;

  world.registry.transfer((await world.call()).id, NUMBER);
  await settle();
  const meanwhile = [...talk.pendingStates];
  if (how === 'succeeds') outcome.resolve('joined');
  else outcome.reject(new CarrierError('Cannot transfer the call: the far end said 486', 486));
  await settle();

  expect(meanwhile).toEqual([true]);
  expect(talk.pendingStates).toEqual([true, false]);
});

test('CallRegistry hands no call over that is ending, or that it does not hold', async () => {
  const world = await openCallWorld();
  const { leg, over } = await world.answered();
  const { id } = await world.call();
  leg.hangUp = () => Promise.resolve();

  world.registry.hangUp(id);
  await settle();
  const whileEnding = world.registry.transfer(id, NUMBER);
  leg.release({ kind: 'near-end' });
  await over;

  const others = [world.registry.transfer(id, NUMBER), world.registry.transfer('call_0', NUMBER)];
  expect([whileEnding, ...others]).toEqual([
    'not-in-progress',
    'not-in-progress',
    'not-in-progress',
  ]);
  expect(leg.transfers).toEqual([]);
});

test('CallRegistry makes no loop of a number that rings here', async () => {
  const world = await openCallWorld();
  const { leg } = await world.answered();

  world.registry.transfer((await world.call()).id, AGENT_NUMBER);
  await settle();

  expect(leg.transfers).toEqual([]);
  expect(await kindsOf(world)).toEqual(['ringing', 'answered', 'transfer_failed']);
});

test('CallRegistry dials no further third party for a customer once the agent has reached its transfers of the day', async () => {
  const world = await openCallWorld();
  const { leg, talk } = await world.answered();
  leg.transfer = (number) => {
    leg.transfers.push(number);
    return Promise.reject(new CarrierError('Cannot transfer the call: the far end said 486', 486));
  };
  const { id } = await world.call();

  const starts: string[] = [];
  for (let asked = 0; asked < 201; asked += 1) {
    starts.push(world.registry.transfer(id, NUMBER));
    await settle();
  }
  const ofAgent = await talk.options.control.transfer(NUMBER, '').catch(String);

  expect(starts.slice(-2)).toEqual(['begun', 'too-many-today']);
  expect(leg.transfers).toHaveLength(200);
  expect(ofAgent).toContain('this call has used its attempts');
});

test('CallSession lets its agent try three times, a customer once more, and no agent after a transfer', async () => {
  const world = await openCallWorld();
  const { leg, talk } = await world.answered();
  const { control } = talk.options;
  leg.transfer = () => Promise.reject(new CarrierError('Cannot transfer the call: busy', 486));

  const answers: string[] = [];
  for (let tried = 0; tried < 4; tried += 1) {
    answers.push(String(await control.transfer(NUMBER, '').catch((error: unknown) => error)));
  }
  leg.transfer = () => Promise.resolve('joined');
  const start = world.registry.transfer((await world.call()).id, NUMBER);
  await settle();
  const after = String(await control.bringIn(NUMBER, '').catch((error: unknown) => error));

  expect(answers.map((answer) => answer.includes('has used its attempts'))).toEqual([
    false,
    false,
    false,
    true,
  ]);
  expect(start).toBe('begun');
  expect(after).toContain('transferred already');
  expect(leg.broughtIn).toEqual([]);
});

test('CallRegistry shows an answered call as in progress until it is released', async () => {
  const world = await openCallWorld();
  const { leg, over } = await world.answered();
  const { id: callId, accountId, environment } = await world.call();

  const before = world.registry.inProgress;
  leg.release({ kind: 'far-end' });
  const after = world.registry.inProgress;
  await over;

  expect(before).toMatchObject([{ callId, scope: { accountId, environment } }]);
  expect(before[0]?.audio).toBe(leg.audio);
  expect(after).toEqual([]);
});

test('Sandbox hands a simulated call over', async () => {
  const world = await openSandboxWorld();
  const id = await world.queue({ to: '+12025550199' });
  world.sandbox.start();
  while (world.sandbox.registry.inProgress.length === 0) await world.pass(60);
  await world.pass(100);

  const start = world.sandbox.registry.transfer(id, NUMBER);
  await world.untilOver(id);

  expect(start).toBe('begun');
  expect(await world.call(id)).toMatchObject({ status: 'completed', endReason: 'transferred' });
  expect(await world.kinds(id)).toEqual(['call.started', 'call.bridged', 'call.ended']);
  const timeline = (await world.store.calls.timeline(id)).map(({ kind }) => kind);
  expect(timeline.slice(-2)).toEqual(['transfer', 'ended']);
});

test('CallRegistry still waits for the one who is being called when the agent wants another called', async () => {
  const world = await openCallWorld();
  const { leg, talk } = await world.answered();
  leg.transfer = () => new Promise(() => undefined);

  world.registry.transfer((await world.call()).id, NUMBER);
  await settle();
  const refusal = await talk.options.control.transfer(NUMBER, '').catch(String);

  expect(refusal).toContain('a transfer is in progress');
  expect(talk.pendingStates).toEqual([true]);
});

test.each([
  ['warm', true, true],
  ['warm', false, false],
  ['cold', true, false],
] as const)('CallRegistry has the other party of a %s transfer asked where transferAcceptance is %s: %s', async (mode, transferAcceptance, isAsked) => {
  const settings = { ...DEFAULT_AGENT_SETTINGS, transferAcceptance };
  const world = await openCallWorld({ agent: { settings } });
  const { leg } = await world.answered();

  world.registry.transfer((await world.call()).id, NUMBER, { mode, summary: 'a refund' });
  await settle();

  expect(leg.transfers).toEqual([NUMBER]);
  expect(leg.isAsked).toBe(isAsked);
});
