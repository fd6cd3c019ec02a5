import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CallSummary } from '../../src/domain/call/call.ts';
import { buildCall } from '../support/build-call.ts';
import { openTestStore } from '../support/test-store.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const DAY_MS = 86_400_000;

/** What the specification says of an item. */
function itemOf(call: CallSummary): object {
  return {
    id: call.id,
    agentId: call.agentId,
    direction: call.direction,
    status: call.status,
    from: call.from,
    to: call.to,
    durationSeconds: call.durationSeconds,
    startedAt: call.startedAt?.toISOString() ?? null,
    endedAt: call.endedAt?.toISOString() ?? null,
    answeredAt: call.answeredAt?.toISOString() ?? null,
    endReason: call.endReason,
    failureReason: call.failureReason,
    sipStatus: call.sipStatus,
    sentiment: call.sentiment,
    intentDetected: call.intentDetected,
    hasTranscript: call.hasTranscript,
    hasRecording: call.recordingFile !== null,
  };
}

const anInstant = fc
  .integer({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0) })
  .map((ms) => new Date(ms));

const aCall = fc.record({
  from: fc.string({ unit: 'binary' }),
  intentDetected: fc.option(fc.string({ unit: 'grapheme' })),
  status: fc.constantFrom('queued', 'completed'),
  durationSeconds: fc.nat(),
  startedAt: fc.option(anInstant),
  answeredAt: fc.option(anInstant),
  endedAt: fc.option(anInstant),
  failureReason: fc.option(fc.string({ unit: 'grapheme' })),
  sipStatus: fc.option(fc.integer({ min: 400, max: 699 })),
  recordingFile: fc.constantFrom(null, 'recordings/call.wav'),
  sentiment: fc.constantFrom(null, 'positive'),
});

test('CallStore writes the items of a list as JSON does that is made of its calls', async () => {
  const { calls } = await openTestStore();
  fc.sample(aCall, { numRuns: 300, seed: 20_261_122 }).forEach((draft, index) => {
    calls.insert(buildCall({ ...draft, id: `call_${index}` }), []);
  });
  calls.addTranscriptEntry('call_7', { role: 'user', text: 'Hello', at: new Date(0) });

  for (const filter of [{}, { status: 'completed' }, { agentId: 'agent_1' }] as const) {
    const query = { ...filter, limit: 300, offset: 3 };
    const { items, total } = calls.listText(SCOPE, query);

    const page = calls.list(SCOPE, query);
    expect(JSON.parse(`[${items}]`)).toEqual(page.calls.map(itemOf));
    expect(total).toBe(page.total);
  }
});

test('CallStore writes a page that lies on several days in its order', async () => {
  const { calls } = await openTestStore();
  for (let index = 0; index < 30; index += 1) {
    const startedAt = new Date(index * DAY_MS);
    calls.insert(buildCall({ id: `call_${index}`, startedAt, status: 'completed' }), []);
  }

  const query = { status: 'completed', limit: 5, offset: 20 } as const;
  const { items } = calls.listText(SCOPE, query);

  const ids = (JSON.parse(`[${items}]`) as { id: string }[]).map(({ id }) => id);
  expect(ids).toEqual(['call_9', 'call_8', 'call_7', 'call_6', 'call_5']);
});

test('CallStore writes no items behind the last call', async () => {
  const { calls } = await openTestStore();
  calls.insert(buildCall({ id: 'call_1' }), []);

  expect(calls.listText(SCOPE, { limit: 5, offset: 1 })).toEqual({ items: '', total: 1 });
});
