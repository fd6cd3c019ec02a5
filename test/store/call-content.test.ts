import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TranscriptEntry } from '../../src/domain/call/call.ts';
import { buildCall } from '../support/store/build-call.ts';
import { openTestStore } from '../support/store/test-store.ts';

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
    answeredBy: fc.constantFrom('human', 'machine', 'unknown', null),
    endedAt: fc.option(anInstant),
    failureReason: fc.option(fc.string({ unit: 'grapheme' })),
    sipStatus: fc.option(fc.integer({ min: 400, max: 699 })),
    recordingFile: fc.constantFrom(null, 'recordings/call.wav'),
    recordingTruncated: fc.boolean(),
    summary: fc.option(fc.string({ unit: 'grapheme' })),
    extracted: fc.option(fc.constant({ a: [1, 'x', null] })),
    success: fc.option(fc.record({ met: fc.boolean(), reason: fc.string() })),
    // JSON has no -0.
    metadata: fc
      .dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue())
      .map((metadata) => JSON.parse(JSON.stringify(metadata))),
  }),
  entries: fc.array(anEntry, { maxLength: 5 }),
});

test('CallStore finds a call and its transcript as they were saved, whatever characters they hold', async () => {
  const { calls } = await openTestStore();
  const made = fc.sample(aCall, { numRuns: 200, seed: 20_261_122 });

  for (const [index, { call: draft, entries }] of made.entries()) {
    const call = buildCall({ ...draft, id: `call_${index}` });
    const said = entries.map(({ confidence, ...entry }) => {
      return (confidence === null ? entry : { ...entry, confidence }) as TranscriptEntry;
    });
    await calls.insert(call, []);
    for (const entry of said) await calls.addTranscriptEntry(call.id, entry);

    expect(await calls.find(SCOPE, call.id)).toEqual(call);
    const inOrder = said.toSorted((one, other) => one.at.getTime() - other.at.getTime());
    expect(await calls.transcript(call.id)).toEqual(inOrder);
  }
});

test("CallStore.find finds nothing of another account's, or of another environment", async () => {
  const { calls } = await openTestStore();
  await calls.insert(buildCall({ id: 'call_1' }), []);

  const found = [
    await calls.find(SCOPE, 'call_2'),
    await calls.find({ ...SCOPE, accountId: 'acct_2' }, 'call_1'),
    await calls.find({ ...SCOPE, environment: 'test' }, 'call_1'),
  ];

  expect(found).toEqual([undefined, undefined, undefined]);
});
