import { expect, test } from 'vitest';
import { LanguageModelError } from '../../src/llm/language-model.ts';
import { GOOD_ANSWER, HANGS, openAnalystWorld, settled } from './support/analyst-world.ts';

test('Analyst takes up what the process before it left, and tells each once', async () => {
  const world = await openAnalystWorld(HANGS);
  world.analyst.start();
  await world.endCall();
  await world.pass(1000);
  await world.analyst.stop();
  world.model.answer = () => GOOD_ANSWER;

  const next = world.newAnalyst();
  next.start();
  await settled();

  expect(await world.events()).toEqual(['call.transcribed']);
  await next.stop();
});

test('Analyst forgets a call that was erased while the model thinks', async () => {
  const answer = Promise.withResolvers<string>();
  const world = await openAnalystWorld(() => answer.promise);
  world.analyst.start();
  await world.endCall();
  await settled();
  const order = { id: 'ers_1', accountId: 'acct_1', environment: 'live', kind: 'call' } as const;
  await world.store.erasures.erase('call_1', { ...order, askedBy: 'key_1', askedAt: new Date() });

  answer.resolve(GOOD_ANSWER);
  await world.pass(120_000);

  expect([world.counted, world.model.asked.length, world.logged]).toEqual([[], 1, []]);
  expect(await world.events()).toEqual([]);
});

test('Analyst stops at once though the model does not mind being aborted', async () => {
  const world = await openAnalystWorld(HANGS);
  world.analyst.start();
  await world.endCall();
  await settled();

  await world.analyst.stop();
  await world.analyst.stop();
  await world.pass(60_000);

  expect(await world.events()).toEqual([]);
  expect(await world.store.analyses.count()).toBe(1);
});

test('Analyst gives a call that ended long ago one quick try', async () => {
  const world = await openAnalystWorld(HANGS);
  await world.endCall();
  await world.pass(3_600_000);
  world.analyst.start();
  await settled();

  await world.pass(8000);
  const triesInTime = world.model.asked.length;
  await world.pass(1000);

  expect(triesInTime).toBe(1);
  expect(await world.transcribed()).toMatchObject({ intentDetected: 'other' });
});

test('Analyst asks the model once a call while the disk is full, and loses nothing', async () => {
  const world = await openAnalystWorld();
  world.analyst.start();
  world.isDiskFull = true;

  for (const id of ['call_1', 'call_2', 'call_3']) await world.endCall(['Hello?'], { id });
  await world.pass(120_000);
  const eventsWhileFull = await world.store.events.listByCall('call_1');
  world.isDiskFull = false;
  await world.pass(1000);

  expect(eventsWhileFull).toEqual([]);
  expect(world.model.asked).toHaveLength(3);
  for (const id of ['call_1', 'call_2', 'call_3']) {
    expect(await world.transcribed(id)).toMatchObject({ intentDetected: 'booking' });
    expect(await world.store.calls.timeline(id)).toHaveLength(1);
  }
  expect(await world.store.analyses.count()).toBe(0);
});

test('Analyst does not ask without a pause when neither model nor disk work', async () => {
  const world = await openAnalystWorld(() => Promise.reject(new LanguageModelError('down')));
  world.analyst.start();
  world.isDiskFull = true;

  await world.endCall();
  await world.pass(10_000);
  const tries = world.model.asked.length;
  world.isDiskFull = false;
  await world.pass(30_000);

  expect(tries).toBeLessThanOrEqual(11);
  expect(await world.events()).toEqual(['call.transcribed']);
});

test('Analyst sets a call aside that fails by a mistake of ours, and goes on with the others', async () => {
  const world = await openAnalystWorld();
  world.analyst.start();
  world.broken = 'call_1';

  await world.endCall(['Hello?'], { id: 'call_1' });
  await world.endCall(['Hello?'], { id: 'call_2' });
  await world.pass(30_000);
  const failuresMeanwhile = world.failures;
  world.broken = undefined;
  await world.pass(60_000);

  expect(failuresMeanwhile).toBe(1);
  expect(await world.events('call_2')).toEqual(['call.transcribed']);
  expect(await world.events('call_1')).toEqual(['call.transcribed']);
});

test('Analyst rings no clock when nothing waits', async () => {
  const world = await openAnalystWorld();
  const waitingBefore = world.store.clock.waiting;

  world.analyst.start();
  await world.endCall();
  await settled();

  expect(world.store.clock.waiting).toBe(waitingBefore);
});
