import { expect, test } from 'vitest';
import { measureWordErrors, wordErrorTable } from '../../../bench/word-error-rate.ts';
import { describeWith } from '../../support/server/programs.ts';

const PERCENT_MAX = 8;
const POINTS_BEYOND_DIRECT_MAX = 2;

/** Some 800 words: of half as many, chance alone moves the rate by a point. */
const SAMPLE = { phrases: 200, phrasesPerCall: 20, seed: 1 };

describeWith(['espeak-ng'], 'word errors through whole calls', () => {
  test('phrases of held-out voices are understood as well as without a call', async () => {
    const report = await measureWordErrors({ ...SAMPLE, isWithTransformers: false });
    process.stdout.write(`${wordErrorTable(report)}\n`);
    const { throughCalls, direct } = report;
    const misses = report.misses.join('\n');

    expect(throughCalls.unanswered, misses).toBe(0);
    expect(throughCalls.percent, misses).toBeLessThanOrEqual(PERCENT_MAX);
    expect(throughCalls.percent - direct.percent, misses).toBeLessThanOrEqual(
      POINTS_BEYOND_DIRECT_MAX,
    );
  });
});
