import { expect, test } from 'vitest';
import { mergedFields } from '../../src/dashboard/forms/form-changes.ts';

test('mergedFields keeps the changes of the form, and takes all others from the newer version', () => {
  const begun = { url: 'https://one.example.com', rows: [{ name: 'A' }], note: 'As it was' };
  const theirs = { ...begun, url: 'https://theirs.example.com', rows: [{ name: 'B' }] };
  const mine = { ...begun, rows: [{ name: 'A' }, { name: 'C' }] };

  expect(mergedFields({ begun, mine, theirs })).toEqual({ ...theirs, rows: mine.rows });
});
