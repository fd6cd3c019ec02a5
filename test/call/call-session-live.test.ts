/** What those see who look on while a call goes on. */
import { expect, test } from 'vitest';
import type { LiveCallEvent } from '../../src/domain/call/live-sound.ts';
import { openCallWorld } from './support/call-world.ts';

test('CallSession tells those who look on what the caller is saying, and keeps none of it', async () => {
  const world = await openCallWorld();
  const { leg, talk, over } = await world.answered();
  const told: LiveCallEvent[] = [];
  const { id, accountId, environment } = await world.call();
  world.store.liveFeed.watch(
    { accountId, environment },
    { onEvent: (event) => told.push(event), onClosed: () => undefined },
  );

  talk.say({ kind: 'hearing', text: 'I would like' });
  leg.release({ kind: 'far-end' });
  await over;

  expect(told[0]).toEqual({ kind: 'hearing', callId: id, text: 'I would like' });
  expect(await world.store.calls.transcript(id)).toEqual([]);
});
