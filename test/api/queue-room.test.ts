import { describe, expect, test } from 'vitest';
import { QueueRoom } from '../../src/api/http/queue-room.ts';
import type { Environment } from '../../src/domain/account/account.ts';
import { QUEUED_CALLS_MAX } from '../../src/domain/dialing/outbound-rules.ts';

/** A queue that says how often it was counted. */
function queueOf(queued: number) {
  const queue = { queued, counts: 0 };
  const room = new QueueRoom(
    {
      countQueued: async () => {
        queue.counts += 1;
        return queue.queued;
      },
    },
    'outbound',
  );
  const takePlaces = async (wanted: number, environment: Environment = 'live') => {
    let taken = 0;
    while (taken < wanted && (await room.takePlace(environment))) taken += 1;
    return taken;
  };
  return { queue, room, takePlaces };
}

describe('QueueRoom', () => {
  test('gives as many places as are free, for one count', async () => {
    const { queue, takePlaces } = queueOf(QUEUED_CALLS_MAX - 10);

    const taken = await takePlaces(10);

    expect([taken, queue.counts]).toEqual([10, 1]);
  });

  test('gives none while the queue is full', async () => {
    const { queue, room, takePlaces } = queueOf(QUEUED_CALLS_MAX - 10);

    await takePlaces(10);
    queue.queued = QUEUED_CALLS_MAX;

    expect([await room.takePlace('live'), await room.takePlace('live')]).toEqual([false, false]);
  });

  test('gives the places of calls that have left, or that were never saved', async () => {
    const { queue, takePlaces } = queueOf(0);

    await takePlaces(QUEUED_CALLS_MAX);
    queue.queued = QUEUED_CALLS_MAX - 3;

    const taken = [];
    for (let place = 0; place < 3; place += 1) {
      taken.push(await takePlaces(1));
      queue.queued += 1;
    }
    taken.push(await takePlaces(1));
    expect(taken).toEqual([1, 1, 1, 0]);
  });

  test('counts each environment by itself', async () => {
    const { queue, room, takePlaces } = queueOf(0);

    await takePlaces(QUEUED_CALLS_MAX);
    queue.queued = QUEUED_CALLS_MAX;

    expect(await room.takePlace('live')).toBe(false);
    queue.queued = 0;
    expect(await room.takePlace('test')).toBe(true);
  });
});
