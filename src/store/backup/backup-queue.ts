/** Ends the calls that wait in a restored database: what was asked for before the backup must not ring anybody now. */
import { randomBytes } from 'node:crypto';
import type { Call } from '../../domain/call/call.ts';
import { callEndedEvent } from '../../domain/call/call-events.ts';
import { endCall, type Failure } from '../../domain/call/call-life.ts';
import { idMaker } from '../../domain/ids.ts';
import { SqliteAnalysisStore } from '../calls/sqlite-analysis-store.ts';
import { SqliteCallStore } from '../calls/sqlite-call-store.ts';
import type { Database } from '../sqlite/database.ts';
import { LiveWatchers } from '../sqlite/live-watchers.ts';
import { SqliteEventStore } from '../webhooks/sqlite-event-store.ts';

/** Why such a call failed. */
const RESTORED: Failure = {
  reason: 'It waited in the queue when the backup was made, and is not dialled after a restore.',
  sipStatus: null,
};

/** Calls that are read and ended at a time. */
const ENDED_TOGETHER = 500;

/**
 * Ends every live call that waits to be dialled, as a server ends one that it cannot dial: `failed`, `error`, and
 * `call.ended` to its customer. Calls of the sandbox ring nobody and wait on.
 *
 * @returns how many.
 */
export function endWaitingCalls(database: Database, now: Date): number {
  const events = new SqliteEventStore(database);
  const calls = new SqliteCallStore(database, {
    events,
    analyses: new SqliteAnalysisStore(database),
    live: new LiveWatchers(),
  });
  const newId = idMaker({ nowMs: () => now.getTime(), random: randomBytes });
  const end = (call: Call) => {
    const ended = endCall(call, { endReason: 'error', endedAt: now, failure: RESTORED });
    calls.update(ended, [callEndedEvent(ended, { id: newId('evt'), now })]);
  };
  return database.write(() => {
    let count = 0;
    // Each round ends what it read, so that the next one reads others.
    for (;;) {
      const waiting = calls.queued('live', 'outbound', ENDED_TOGETHER);
      for (const call of waiting) end(call);
      count += waiting.length;
      if (waiting.length < ENDED_TOGETHER) return count;
    }
  });
}
