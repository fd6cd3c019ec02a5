/**
 * Voices over the agent's on real calls: backchannels of ten languages leave it the floor, words that want the floor take it.
 * Detector and recogniser are those that come with Offhook; the recogniser knows English and some Spanish, and makes words of
 * that of all the rest. Spoken by espeak-ng's voices, at different levels: `test/support/speech/backchannels.ts`.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../support/server/programs.ts';
import { startServer, type TestServer } from '../support/server/server.ts';
import { backchannelCalls, interruptionCalls } from '../support/speech/backchannels.ts';
import {
  type OverlapOutcome,
  overlapEnvironment,
  playOverlaps,
} from '../support/speech/overlap-calls.ts';

const CALLS_AT_ONCE = 6;

const told = (outcomes: readonly OverlapOutcome[]) =>
  outcomes.map(({ language, said, heard }) => `${language} "${said}" (${heard?.text ?? '-'})`);

describeWith(['espeak-ng'], 'a voice over the agent', () => {
  let server: TestServer;

  beforeAll(async () => {
    const environment = { ...overlapEnvironment(), MODELS_DIR: join(tmpdir(), 'no-models-here') };
    server = await (await startServer({ environment })).ready();
  });

  afterAll(async () => {
    await server.stop();
  });

  test('backchannels of ten languages leave the agent its floor, and words that want it take it', async () => {
    const [agreeing, interrupting] = [await backchannelCalls(1), await interruptionCalls(2)];

    const outcomes = await playOverlaps(server, [...agreeing, ...interrupting], CALLS_AT_ONCE);

    const count = agreeing.flatMap(({ overlaps }) => overlaps).length;
    const [backchannels, interruptions] = [outcomes.slice(0, count), outcomes.slice(count)];
    const taken = backchannels.filter(({ isFloorTaken }) => isFloorTaken);
    const missed = interruptions.filter(({ isFloorTaken }) => !isFloorTaken);
    process.stdout.write(
      `${taken.length} of ${count} backchannels took the floor: ${told(taken).join(', ')}\n` +
        `${missed.length} of ${interruptions.length} interruptions did not: ${told(missed).join(', ')}\n`,
    );
    expect(count).toBeGreaterThanOrEqual(60);
    expect(new Set(backchannels.map(({ language }) => language)).size).toBe(10);
    expect(taken.length / count).toBeLessThanOrEqual(0.05);
    expect(missed.length / interruptions.length).toBeLessThanOrEqual(0.1);
    // Whatever it was taken for: nothing is hung up on a "mm-hm".
    expect(backchannels.filter(({ isOver }) => isOver)).toEqual([]);
  });
});
