import { expect, test } from 'vitest';
import { recordOf, rowOf } from '../../src/store/sqlite/rows.ts';

const RECORD = {
  id: 'one',
  lastUsedAt: new Date(5),
  at: null as Date | null,
  isWhole: true,
  names: ['a', 'b'],
  detail: null as { readonly x: number } | null,
  length: 0.5,
};

const ROW = {
  id: 'one',
  last_used_at: 5,
  at: null,
  is_whole: 1,
  names: '["a","b"]',
  detail: null,
  length: 0.5,
};

test('rowOf writes a record by the types of its values', () => {
  expect(rowOf(RECORD)).toEqual(ROW);
});

test('recordOf reads what rowOf has written, without the columns that are not of the record', () => {
  const row = { ...ROW, position: 7 };

  const record = recordOf<typeof RECORD>(row, {
    json: ['names', 'detail'],
    flags: ['isWhole'],
    without: ['position'],
  });

  expect(record).toEqual(RECORD);
});
