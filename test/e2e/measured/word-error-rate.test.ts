import { expect, test } from 'vitest';
import {
  measureWordErrors,
  type WordErrorReport,
  wordErrorTable,
} from '../../../bench/word-error-rate.ts';
import { describeWith } from '../../support/server/programs.ts';

const PERCENT_MAX = 8;
const POINTS_BEYOND_DIRECT_MAX = 2;

/** 100 phrases are some 400 words: chance alone moves the rate by a point. A second hundred decides where one does not. */
const SEEDS = [1, 2];

function percentOf(reports: readonly WordErrorReport[], way: 'throughCalls' | 'direct'): number {
  const errors = reports.reduce((sum, report) => sum + report[way].errors, 0);
  const words = reports.reduce((sum, report) => sum + report[way].words, 0);
  return (100 * errors) / words;
}

describeWith(['espeak-ng'], 'word errors through whole calls', () => {
  test('phrases of held-out voices are understood as well as without a call', async () => {
    const reports: WordErrorReport[] = [];
    for (const seed of SEEDS) {
      const report = await measureWordErrors({
        phrases: 100,
        phrasesPerCall: 10,
        seed,
        isWithTransformers: false,
      });
      process.stdout.write(`${wordErrorTable(report)}\n`);
      reports.push(report);
      const beyond = percentOf(reports, 'throughCalls') - percentOf(reports, 'direct');
      if (beyond <= POINTS_BEYOND_DIRECT_MAX) break;
    }
    const misses = reports.flatMap((report) => report.misses).join('\n');
    const percent = percentOf(reports, 'throughCalls');

    expect(
      reports.every(({ throughCalls }) => throughCalls.unanswered === 0),
      misses,
    ).toBe(true);
    expect(percent, misses).toBeLessThanOrEqual(PERCENT_MAX);
    expect(percent - percentOf(reports, 'direct'), misses).toBeLessThanOrEqual(
      POINTS_BEYOND_DIRECT_MAX,
    );
  });
});
