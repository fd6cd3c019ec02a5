/** How long an analyst keeps the thread to itself, and what it reads for that. */
import { expect, test } from 'vitest';
import { buildAgent } from '../support/store/build-agent.ts';
import { HANGS, openAnalystWorld, settled } from './support/analyst-world.ts';

const idsOf = (count: number) => Array.from({ length: count }, (_, index) => `call_${index}`);

test('Analyst looks at many calls in short pieces, one right after the other', async () => {
  const world = await openAnalystWorld(HANGS);
  const ids = idsOf(30);
  for (const id of ids) await world.endCall(['Hello?'], { id });
  world.readMs = 2;

  world.analyst.start();
  await settled();
  const readsAtOnce = world.reads.length;
  world.readMs = 0;
  await world.store.clock.pass(0);
  await settled();

  expect(readsAtOnce).toBeLessThanOrEqual(4);
  expect(new Set(world.reads)).toEqual(new Set(ids));
  await world.analyst.stop();
});

test('Analyst saves findings of many calls in short pieces, too', async () => {
  const world = await openAnalystWorld();
  const ids = idsOf(30);
  for (const id of ids) await world.endCall([], { id });
  const told = async () => {
    const events = await Promise.all(ids.map((id) => world.events(id)));
    return events.filter((one) => one.length > 0).length;
  };
  world.readMs = 1;

  world.analyst.start();
  await settled();
  const toldAtOnce = await told();
  while ((await told()) < ids.length && world.store.clock.waiting > 0) {
    await world.store.clock.pass(0);
  }

  expect(toldAtOnce).toBeLessThanOrEqual(5);
  expect(await told()).toBe(30);
});

test('Analyst takes a job though reading the list of jobs took longer than a piece may', async () => {
  const world = await openAnalystWorld(HANGS);
  const { analyses, clock } = world.store;
  const due = analyses.due.bind(analyses);
  analyses.due = async (...asked) => {
    const jobs = await due(...asked);
    clock.advance(10);
    return jobs;
  };
  await world.endCall();

  world.analyst.start();
  await settled();

  expect(world.model.asked).toHaveLength(1);
  await world.analyst.stop();
});

test('Analyst reads no transcript again while its call waits for its turn', async () => {
  const world = await openAnalystWorld(HANGS);
  world.analyst.start();
  for (const id of idsOf(50)) await world.endCall(['Hello?'], { id });
  await settled();
  const readsAtFirst = world.reads.length;

  await world.pass(7000);

  expect(readsAtFirst).toBe(54);
  expect(world.reads).toHaveLength(readsAtFirst);
  await world.analyst.stop();
});

test('Analyst tells of a call on which nothing was said though the model is busy with others', async () => {
  const world = await openAnalystWorld(HANGS);
  world.analyst.start();
  for (const id of idsOf(6)) await world.endCall(['Hello?'], { id });
  await settled();

  await world.endCall([], { id: 'call_silent' });
  await settled();

  expect(await world.events('call_silent')).toEqual(['call.transcribed']);
  await world.analyst.stop();
});

test('Analyst rings no clock when only calls of the other environment wait', async () => {
  const world = await openAnalystWorld();
  await world.store.agents.insert(buildAgent({ id: 'agent_test', environment: 'test' }));
  world.analyst.start();
  const waitingBefore = world.store.clock.waiting;

  await world.endCall(['Hello?'], { agentId: 'agent_test', environment: 'test' });
  await settled();

  expect(world.store.clock.waiting).toBe(waitingBefore);
});
