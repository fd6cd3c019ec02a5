/** `levels` in the live view: only for those who ask, of their own calls, and no longer than they look. */
import { expect, onTestFinished, test } from 'vitest';
import type { Scope } from '../../src/domain/agent/agent.ts';
import type { CallLevels, LiveSound } from '../../src/domain/call/live-sound.ts';
import { EventReader } from '../support/api/event-reader.ts';
import { openTestApi } from '../support/api/test-api.ts';
import { buildCall } from '../support/store/build-call.ts';

const PATH = '/api/live/calls';

/** An interface to calls whose loudness is the test's to say. */
async function openWorld() {
  const watching = new Map<(levels: readonly CallLevels[]) => void, Scope>();
  const liveSound: LiveSound = {
    watchLevels: (scope, onLevels) => {
      watching.set(onLevels, scope);
      return () => watching.delete(onLevels);
    },
    listen: () => ({ kind: 'not-in-progress' }),
    quality: async () => undefined,
    close: () => undefined,
  };
  const api = await openTestApi({ liveSound });
  for (const id of ['call_1', 'call_2']) {
    await api.store.calls.insert(
      buildCall({ id, accountId: 'acct_main', status: 'in_progress' }),
      [],
    );
  }
  const watch = async (query: string) => {
    const reader = new EventReader(await api.request('GET', `${PATH}${query}`));
    onTestFinished(() => reader.cancel());
    await reader.next();
    return reader;
  };
  const tell = (levels: readonly CallLevels[]) => {
    for (const onLevels of watching.keys()) onLevels(levels);
  };
  return { api, watching, watch, tell };
}

const LEVELS: readonly CallLevels[] = [
  { callId: 'call_1', callerDbfs: -21, agentDbfs: -90 },
  { callId: 'call_2', callerDbfs: -90, agentDbfs: 0 },
];

test('GET /api/live/calls?levels=true tells how loud calls are', async () => {
  const { watching, watch, tell } = await openWorld();

  const reader = await watch('?levels=true');
  tell(LEVELS);

  expect([...watching.values()]).toEqual([{ accountId: 'acct_main', environment: 'live' }]);
  expect(await reader.next()).toEqual({
    event: 'levels',
    data: {
      levels: [
        { callId: 'call_1', caller: -21, agent: -90 },
        { callId: 'call_2', caller: -90, agent: 0 },
      ],
    },
  });
});

test('GET /api/live/calls?levels=true of one call tells how loud that one is, and no other', async () => {
  const { watch, tell } = await openWorld();
  const reader = await watch('?callId=call_2&levels=true');

  tell(LEVELS.slice(0, 1));
  tell(LEVELS);

  expect((await reader.next()).data).toEqual({
    levels: [{ callId: 'call_2', caller: -90, agent: 0 }],
  });
});

test.each(['', '?levels=false'])('GET /api/live/calls%s measures nothing', async (query) => {
  const { watching, watch } = await openWorld();

  await watch(query);

  expect(watching.size).toBe(0);
});

test('GET /api/live/calls?levels=true measures only while a client is connected', async () => {
  const { watching, watch } = await openWorld();
  const reader = await watch('?levels=true');

  await reader.cancel();

  expect(watching.size).toBe(0);
});

test('GET /api/live/calls answers 400 to levels that are neither wanted nor not', async () => {
  const { api } = await openWorld();

  const answer = await api.json('GET', `${PATH}?levels=1`);

  expect(answer).toMatchObject({
    status: 400,
    body: { error: { details: [{ path: 'levels' }] } },
  });
});
