/** Tables for spreadsheets. */
import { expect, test } from 'vitest';
import { csvOf } from '../../src/dashboard/csv.ts';

test('csvOf quotes what needs it, and begins with a byte order mark', () => {
  const text = csvOf([
    ['id', 'name'],
    [1, 'a "b", c'],
    [null, 'two\nlines'],
  ]);

  expect(text).toBe('\uFEFFid,name\r\n1,"a ""b"", c"\r\n,"two\nlines"\r\n');
});

test.each([
  ['=1+1', "'=1+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['-cmd', "'-cmd"],
  ['+12025550123', '+12025550123'],
  ['-5.2', '-5.2'],
  ['plain', 'plain'],
])('csvOf lets no spreadsheet run %o', (value, shown) => {
  expect(csvOf([[value]])).toBe(`\uFEFF${shown}\r\n`);
});
