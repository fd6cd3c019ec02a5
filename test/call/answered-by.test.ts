/** What answering machine detection leaves on a call's record, its timeline and its last event. */
import { expect, test } from 'vitest';
import { openCallWorld } from './support/call-world.ts';

test('CallSession keeps who answered, as found last, in the record, on the timeline and in call.ended', async () => {
  const world = await openCallWorld();
  const { leg, over, talk } = await world.answered();

  talk.say({ kind: 'answered-by', answeredBy: 'human', sign: 'short_talk', afterMs: 1400.4 });
  talk.say({ kind: 'answered-by', answeredBy: 'machine', sign: 'beep', afterMs: 5000 });
  leg.release({ kind: 'far-end' });
  await over;

  const entries = await world.store.calls.timeline((await world.call()).id);
  expect((await world.call()).answeredBy).toBe('machine');
  expect(
    entries.filter(({ kind }) => kind === 'answered_by').map(({ details }) => details),
  ).toEqual([
    { answeredBy: 'human', sign: 'short_talk', afterMs: 1400 },
    { answeredBy: 'machine', sign: 'beep', afterMs: 5000 },
  ]);
  expect(entries.at(-1)).toMatchObject({ kind: 'ended', details: { answeredBy: 'machine' } });
});
