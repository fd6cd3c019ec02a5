import { describe, expect, test } from 'vitest';
import { csvRows, readContacts } from '../../../src/domain/campaign/new-campaign.ts';
import { ServiceError } from '../../../src/domain/service-error.ts';

const [FIRST, SECOND] = ['+390612345678', '+390612345679'];

function faultsOf(given: Parameters<typeof readContacts>[0]) {
  try {
    readContacts(given);
  } catch (error) {
    if (error instanceof ServiceError) return error.details;
    throw error;
  }
  return [];
}

describe('csvRows', () => {
  test.each([
    [
      'commas',
      'to,name\n+39,Anna\n',
      [
        ['to', 'name'],
        ['+39', 'Anna'],
      ],
    ],
    [
      'semicolons',
      'to;name\r\n+39;Anna',
      [
        ['to', 'name'],
        ['+39', 'Anna'],
      ],
    ],
    [
      'tabs',
      'to\tname\n+39\tAnna',
      [
        ['to', 'name'],
        ['+39', 'Anna'],
      ],
    ],
    ['a byte order mark', '\uFEFFto\n+39', [['to'], ['+39']]],
    [
      'quotes, with a separator, a quote and a line break in them',
      'to\n"a,""b""\nc"',
      [['to'], ['a,"b"\nc']],
    ],
    ['blank lines', '\nto\n\n  \n+39\n\n', [['to'], ['+39']]],
    [
      'empty cells',
      'to,a,b\n+39,,x',
      [
        ['to', 'a', 'b'],
        ['+39', '', 'x'],
      ],
    ],
    ['old line breaks', 'to\r+39\r', [['to'], ['+39']]],
    ['nothing', '', []],
  ])('reads %s', (_what, text, rows) => {
    expect(csvRows(text).map(({ cells }) => cells)).toEqual(rows);
  });

  test('counts lines as an editor does, also those inside of quotes', () => {
    const rows = csvRows('to\n\n"a\nb"\nc');

    expect(rows.map(({ line }) => line)).toEqual([1, 3, 5]);
  });

  test.each(['to\n"never closed', 'to\n"closed" and more'])('refuses the quote in %j', (text) => {
    expect(() => csvRows(text)).toThrow('line 2');
  });

  test('reads a long quoted cell, and a long line', () => {
    const long = 'x'.repeat(500_000);

    expect(csvRows(`to\n"${long}"\n${long}`)).toHaveLength(3);
  });
});

describe('readContacts', () => {
  test('makes columns of CSV but the number’s to metadata', () => {
    const contacts = readContacts({ csv: `Name,TO,City\nAnna,${FIRST},Rome\n,${SECOND},\n` });

    expect(contacts).toEqual([
      { to: FIRST, metadata: { Name: 'Anna', City: 'Rome' } },
      { to: SECOND, metadata: {} },
    ]);
  });

  test('names every wrong row of CSV by its line, and repeats no number', () => {
    const csv = `to\n0612345678\n${FIRST}\n112\n${FIRST}\n`;

    const faults = faultsOf({ csv });

    expect(faults).toEqual([
      { path: 'csv.line 2.to', message: 'must be E.164, such as +390612345678' },
      { path: 'csv.line 4.to', message: 'must be E.164, such as +390612345678' },
      { path: 'csv.line 5.to', message: 'repeats the number of csv.line 3' },
    ]);
  });

  test('names wrong contacts of JSON by their index', () => {
    const faults = faultsOf({ contacts: [{ to: FIRST }, { to: 'Anna' }, { to: FIRST }] });

    expect(faults.map(({ path }) => path)).toEqual(['contacts.1.to', 'contacts.2.to']);
  });

  test.each([
    ['no list', {}, 'contacts'],
    ['both lists', { contacts: [{ to: FIRST }], csv: `to\n${FIRST}` }, 'contacts'],
    ['no column of numbers', { csv: `number\n${FIRST}` }, 'csv'],
    ['two columns of numbers', { csv: `to,To\n${FIRST},${SECOND}` }, 'csv'],
    ['two columns of a name', { csv: `to,a,a\n${FIRST},1,2` }, 'csv'],
    ['a column without a name', { csv: `to,\n${FIRST},1` }, 'csv'],
    ['a column that is no key', { csv: `to,__proto__\n${FIRST},1` }, 'csv'],
    ['too many cells', { csv: `to\n${FIRST},1` }, 'csv.line 2'],
    ['NUL', { csv: `to,a\n${FIRST},\0` }, 'csv.line 2'],
    ['an open quote', { csv: `to\n"${FIRST}` }, 'csv'],
    ['no rows', { csv: 'to\n' }, 'csv'],
    ['too long a row', { csv: `to,a\n${FIRST},${'x'.repeat(17_000)}` }, 'csv.line 2'],
  ])('refuses %s', (_what, given, path) => {
    expect(faultsOf(given).map((fault) => fault.path)).toEqual([path]);
  });

  test('takes 10,000 contacts, and says what to do with more', () => {
    const contacts = Array.from({ length: 10_001 }, (_, index) => ({
      to: `+3906${10_000_000 + index}`,
    }));

    expect(readContacts({ contacts: contacts.slice(1) })).toHaveLength(10_000);
    expect(faultsOf({ contacts })[0]?.message).toContain('split a longer list');
  });
});
