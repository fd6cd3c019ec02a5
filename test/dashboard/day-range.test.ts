/** Days that a reader chooses for the analytics. */
import { expect, test } from 'vitest';
import { lastDays, queryOf } from '../../src/dashboard/format.ts';

test('lastDays ends with today, in UTC', () => {
  expect(lastDays(30, Date.parse('2026-03-01T23:59:59.000Z'))).toEqual({
    startDate: '2026-01-31',
    endDate: '2026-03-01',
  });
});

test.each([
  ['today', { startDate: '2026-01-01', endDate: '2026-01-02' }, { period: 'today' }],
  [
    'custom',
    { startDate: '2026-01-01', endDate: '2026-01-02' },
    { period: 'custom', startDate: '2026-01-01', endDate: '2026-01-02' },
  ],
  [
    'custom',
    { startDate: '', endDate: '2026-01-02' },
    { period: 'custom', startDate: '2026-01-02', endDate: '2026-01-02' },
  ],
  ['custom', { startDate: '', endDate: '' }, {}],
])('queryOf(%o, %o)', (period, days, query) => {
  expect(queryOf(period, days)).toEqual(query);
});
