import { expect, test } from 'vitest';
import { contactListOf } from '../../src/dashboard/csv.ts';
import { readContacts } from '../../src/domain/campaign/new-campaign.ts';
import { ServiceError } from '../../src/domain/service-error.ts';

const [FIRST, SECOND] = ['+390612345678', '+390612345679'];

/** Line numbers that the API names; undefined where it refuses the text as a whole. */
function refusedLines(csv: string): readonly (number | undefined)[] {
  try {
    readContacts({ csv });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.details.map(({ path, message }) => {
      const line = /line (\d+)/.exec(path === 'csv' ? message : path)?.[1];
      return line === undefined ? undefined : Number(line);
    });
  }
  return [];
}

test('contactListOf shows numbers and the other columns', () => {
  const list = contactListOf(`Name;To;City\r\nAnna;${FIRST};Rome\r\n;${SECOND};\r\n`);

  expect(list).toEqual({
    columns: ['Name', 'City'],
    contacts: [
      { line: 2, to: FIRST, more: 'Name: Anna, City: Rome' },
      { line: 3, to: SECOND, more: '' },
    ],
    problems: [],
  });
});

test.each([
  ['a good list', `to,name\n${FIRST},"A, ""B""\nC"\n${SECOND},D`],
  ['a byte order mark', `\uFEFFto\n${FIRST}`],
  ['tabs and blank lines', `to\tname\n\n${FIRST}\tAnna\n\n${SECOND}\tBen\n`],
  ['numbers that are none', `to\n0612345\n${FIRST}\n112\n`],
  ['a number twice', `to\n${FIRST}\n${SECOND}\n${FIRST}\n`],
  ['too many cells', `to\n${FIRST},Anna\n`],
  ['an open quote', `to\n${FIRST}\n"${SECOND}\n`],
])('contactListOf finds wrong the lines that the API would refuse: %s', (_what, csv) => {
  const lines = contactListOf(csv).problems.map(({ line }) => line);

  expect(lines).toEqual(refusedLines(csv));
});

test('contactListOf says that no column has the numbers', () => {
  expect(contactListOf(`number\n${FIRST}`).problems).toEqual([{ line: 1, kind: 'header' }]);
});

test('contactListOf finds nothing wrong with an empty text', () => {
  expect(contactListOf('')).toEqual({ columns: [], contacts: [], problems: [] });
});
