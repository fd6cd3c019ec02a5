import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { Call } from '../../src/domain/call.ts';
import { endCall, moveCall } from '../../src/domain/call-life.ts';
import { buildCall } from '../support/build-call.ts';
import { openTestStore, type TestStore } from '../support/test-store.ts';

const NOW = new Date('2026-11-20T12:00:00.000Z');

/** What a scan of the calls says, and what was added up. */
function sums(store: TestStore): { readonly scanned: unknown; readonly kept: unknown } {
  const sqlite = new Sqlite(store.file, { readonly: true });
  try {
    const scanned = sqlite
      .prepare(
        `select agent_id, sort_at / 86400000 as day, direction, status, count(*) as calls,
          sum(answered_at is not null and ended_at is not null) as answered,
          sum(answered_at is null and ended_at is not null) as missed,
          sum(duration_seconds) as billed_seconds, count(sentiment_score) as sentiment_count
        from calls group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
      )
      .all();
    const kept = sqlite
      .prepare(
        `select agent_id, day, direction, status, calls, answered, missed, billed_seconds, sentiment_count
        from call_days where calls <> 0 order by 1, 2, 3, 4`,
      )
      .all();
    return { scanned, kept };
  } finally {
    sqlite.close();
  }
}

function liveThrough(store: TestStore, call: Call): void {
  store.calls.insert(call, []);
  const ringing = moveCall(call, 'ringing', { startedAt: NOW });
  store.calls.update(ringing, []);
  const answered = moveCall(ringing, 'in_progress', { answeredAt: NOW });
  store.calls.update(answered, []);
  const endedAt = new Date(NOW.getTime() + 61_500);
  store.calls.update(endCall(answered, { endReason: 'user_hangup', endedAt }), []);
}

test('CallRollups agree with a scan of the calls whatever the calls live through', async () => {
  const store = await openTestStore();
  const yesterday = new Date(NOW.getTime() - 86_400_000);
  const queued = { status: 'queued', startedAt: null, direction: 'outbound' } as const;

  liveThrough(store, buildCall({ ...queued, id: 'call_1', createdAt: yesterday }));
  liveThrough(store, buildCall({ ...queued, id: 'call_2', agentId: 'agent_2' }));
  const missed = buildCall({ id: 'call_3' });
  store.calls.insert(missed, []);
  store.calls.update(endCall(missed, { endReason: 'no_answer', endedAt: NOW }), []);
  store.calls.insert(buildCall({ id: 'call_4' }), []);

  const { scanned, kept } = sums(store);
  expect(kept).toEqual(scanned);
});

test('CallRollups count the findings of an analysis once', async () => {
  const store = await openTestStore();
  liveThrough(store, buildCall({ status: 'queued', startedAt: null }));
  const call = store.calls.findById('call_1') as Call;
  const found = { sentimentScore: 0.8, sentiment: 'positive', intentDetected: 'booking' } as const;

  store.calls.update({ ...call, ...found }, []);
  store.calls.update({ ...call, ...found }, []);

  const { scanned, kept } = sums(store);
  expect(kept).toEqual(scanned);
  expect(store.analyses.intentsOf('agent_1', 5)).toEqual(['booking']);
});
