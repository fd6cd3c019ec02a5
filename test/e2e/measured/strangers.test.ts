/** A scanner floods a whole server with INVITEs while it holds calls: the calls do not notice, and the scanner hears nothing. */
import { expect, test } from 'vitest';
import { measure, replyP50 } from '../../../bench/strangers.ts';

const RATE = 200;
const SECONDS = 10;

/** Other work on the machine delays turns and packets of both runs by more than a quiet machine would. */
const REPLY_LATER_MS_MAX = 30;
const PACKETS_LATER_MS_MAX = 10;

test('200 INVITEs of a stranger a second get no packet, and change neither turns nor packets of five calls', {
  timeout: 120_000,
}, async () => {
  const [pair] = await measure({ calls: 5, rate: RATE, seconds: SECONDS, pairs: 1 });

  if (pair === undefined) throw new Error('Nothing was measured');
  const { a: flooded, b: quiet } = pair;
  process.stdout.write(
    `strangers: replies p50 ${replyP50(flooded)} and ${replyP50(quiet)} ms, ` +
      `packets late p99 ${flooded.packetsLateP99Ms} and ${quiet.packetsLateP99Ms} ms\n`,
  );
  expect(flooded.sent).toBeGreaterThan(RATE * SECONDS * 0.9);
  expect([flooded.received, flooded.counted]).toEqual([0, flooded.sent]);
  expect([flooded.missed, quiet.missed]).toEqual([0, 0]);
  expect(flooded.replies.length).toBeGreaterThan(quiet.replies.length / 2);
  expect(replyP50(flooded) - replyP50(quiet)).toBeLessThan(REPLY_LATER_MS_MAX);
  expect(flooded.packetsLateP99Ms - quiet.packetsLateP99Ms).toBeLessThan(PACKETS_LATER_MS_MAX);
});
