import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TranscriptEntry } from '../../src/domain/call/call.ts';
import { buildCall } from '../support/build-call.ts';
import { openTestStore } from '../support/test-store.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const anInstant = fc
  .integer({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0) })
  .map((ms) => new Date(ms));

const anEntry = fc.record({
  role: fc.constantFrom('user', 'assistant'),
  text: fc.string({ unit: 'grapheme' }),
  at: anInstant,
  confidence: fc.option(fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000)),
});

const aCall = fc.record({
  call: fc.record({
    startedAt: fc.option(anInstant),
    answeredAt: fc.option(anInstant),
    endedAt: fc.option(anInstant),
    failureReason: fc.option(fc.string({ unit: 'grapheme' })),
    sipStatus: fc.option(fc.integer({ min: 400, max: 699 })),
    recordingFile: fc.constantFrom(null, 'recordings/call.wav'),
    recordingTruncated: fc.boolean(),
    summary: fc.option(fc.string({ unit: 'grapheme' })),
    metadata: fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()),
  }),
  entries: fc.array(anEntry, { maxLength: 5 }),
});

function entryOf({ role, text, at, confidence }: TranscriptEntry): object {
  const entry = { role, text, timestamp: at.toISOString() };
  return confidence === undefined ? entry : { ...entry, confidence };
}

test('CallStore.findText gives in parts what objects would give', async () => {
  const { calls } = await openTestStore();
  const made = fc.sample(aCall, { numRuns: 200, seed: 20_261_122 });

  for (const [index, { call: draft, entries }] of made.entries()) {
    const call = buildCall({ ...draft, id: `call_${index}` });
    calls.insert(call, []);
    for (const { confidence, ...entry } of entries) {
      const said = confidence === null ? entry : { ...entry, confidence };
      calls.addTranscriptEntry(call.id, said as TranscriptEntry);
    }
    const text = calls.findText(SCOPE, call.id);

    const said = calls.transcript(call.id).map(entryOf);
    expect(JSON.parse(`[${text?.transcript ?? ''}]`)).toEqual(said);
    expect(text?.transcript).not.toBe('');
    expect(text).toMatchObject({
      summary: JSON.stringify(call.summary),
      metadata: JSON.stringify(call.metadata),
      hasRecording: call.recordingFile !== null,
    });
    expect(JSON.parse(text?.facts ?? '')).toEqual({
      ...{ id: call.id, agentId: call.agentId, direction: call.direction, status: call.status },
      ...{ from: call.from, to: call.to, durationSeconds: call.durationSeconds },
      startedAt: call.startedAt?.toISOString() ?? null,
      endedAt: call.endedAt?.toISOString() ?? null,
      answeredAt: call.answeredAt?.toISOString() ?? null,
      ...{ endReason: call.endReason, sentiment: call.sentiment },
      ...{ failureReason: call.failureReason, sipStatus: call.sipStatus },
      intentDetected: call.intentDetected,
      recordingTruncated: call.recordingTruncated,
    });
  }
});

test("CallStore.findText finds nothing of another account's, or of another environment", async () => {
  const { calls } = await openTestStore();
  calls.insert(buildCall({ id: 'call_1' }), []);

  const found = [
    calls.findText(SCOPE, 'call_2'),
    calls.findText({ ...SCOPE, accountId: 'acct_2' }, 'call_1'),
    calls.findText({ ...SCOPE, environment: 'test' }, 'call_1'),
  ];

  expect(found).toEqual([undefined, undefined, undefined]);
});
