import { expect, test } from 'vitest';
import { measureWordErrors, wordErrorTable } from '../../bench/word-error-rate.ts';
import { describeWith } from '../support/programs.ts';

const PERCENT_MAX = 8;
const POINTS_BEYOND_DIRECT_MAX = 2;

describeWith(['espeak-ng'], 'word errors through whole calls', () => {
  test('100 phrases of held-out voices are understood as well as without a call', async () => {
    const report = await measureWordErrors({
      phrases: 100,
      phrasesPerCall: 10,
      seed: 1,
      isWithTransformers: false,
    });
    const { throughCalls, direct, misses } = report;
    process.stdout.write(`${wordErrorTable(report)}\n`);

    expect(throughCalls.unanswered, misses.join('\n')).toBe(0);
    expect(throughCalls.percent, misses.join('\n')).toBeLessThanOrEqual(PERCENT_MAX);
    expect(throughCalls.percent - direct.percent, misses.join('\n')).toBeLessThanOrEqual(
      POINTS_BEYOND_DIRECT_MAX,
    );
  });
});
