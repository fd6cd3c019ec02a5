/** Comma-separated values: written for spreadsheets, and read as the contact list of a new campaign; pure */

/** A spreadsheet would run a cell that begins so. A telephone number, or a number, is not one of them. */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?\d+(\.\d+)?$/;

/** RFC 4180, with a byte order mark, because spreadsheets take other text for the system's own encoding. */
export function csvOf(rows: readonly (readonly (string | number | null)[])[]): string {
  return `\uFEFF${rows.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;
}

function cell(value: string | number | null): string {
  if (value === null) return '';
  const text = String(value);
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The API reads the same text, and has the last word. */
export interface ContactList {
  /** Names of the columns but the number's. */
  readonly columns: readonly string[];
  readonly contacts: readonly { readonly line: number; readonly to: string; more: string }[];
  readonly problems: readonly ListProblem[];
}

/** Fault of a line: `campaigns.wrong.<kind>`. */
interface ListProblem {
  readonly line: number;
  readonly kind: 'header' | 'number' | 'twice' | 'cells' | 'quote';
}

interface Row {
  readonly line: number;
  readonly cells: readonly string[];
}

const E164 = /^\+[1-9]\d{6,14}$/;

/** @param text comma-separated values with a first line of column names, one of them `to`. */
export function contactListOf(text: string): ContactList {
  const { rows, brokenLine } = rowsOf(text);
  const nothing = { columns: [], contacts: [] };
  if (brokenLine !== undefined) {
    return { ...nothing, problems: [{ line: brokenLine, kind: 'quote' }] };
  }
  const [header, ...lines] = rows;
  if (header === undefined) return { ...nothing, problems: [] };
  const at = header.cells.findIndex((name) => name.toLowerCase() === 'to');
  if (at === -1) return { ...nothing, problems: [{ line: header.line, kind: 'header' }] };
  const contacts = lines.map(({ line, cells }) => ({
    line,
    to: cells[at] ?? '',
    more: moreOf(header.cells, cells, at),
  }));
  const seen = new Set<string>();
  const problems = lines.flatMap(({ line, cells }): ListProblem[] => {
    const to = cells[at] ?? '';
    if (cells.length > header.cells.length) return [{ line, kind: 'cells' }];
    if (!E164.test(to)) return [{ line, kind: 'number' }];
    if (seen.has(to)) return [{ line, kind: 'twice' }];
    seen.add(to);
    return [];
  });
  return { columns: header.cells.filter((_, index) => index !== at), contacts, problems };
}

/** `name: Anna, city: Rome`. */
function moreOf(names: readonly string[], cells: readonly string[], at: number): string {
  const others = names.flatMap((name, index) =>
    index === at || !cells[index] ? [] : [`${name}: ${cells[index]}`],
  );
  return others.join(', ');
}

/** RFC 4180, also with semicolons or tabs; blank lines are left out. */
function rowsOf(text: string): { readonly rows: readonly Row[]; brokenLine?: number } {
  const plain = text.replace(/^\uFEFF/, '');
  const [head = ''] = plain.split(/\r?\n|\r/, 1);
  const count = (separator: string) => head.split(separator).length;
  const separator = [',', ';', '\t'].reduce((best, one) => (count(one) > count(best) ? one : best));
  const cell = new RegExp(
    `(?:[ ]*"([^"]*(?:""[^"]*)*)"[ ]*|([^${separator}\\r\\n]*))(${separator}|\\r?\\n|\\r|$)`,
    'gy',
  );
  const rows: Row[] = [];
  let [line, first, cells]: [number, number, string[]] = [1, 1, []];
  for (const [, quoted, bare = '', end = ''] of plain.matchAll(cell)) {
    if (quoted === undefined && bare.trimStart().startsWith('"')) return { rows, brokenLine: line };
    cells.push((quoted?.replaceAll('""', '"') ?? bare).trim());
    line += (quoted ?? '').split('\n').length - 1;
    if (end === separator) continue;
    if (cells.some((each) => each !== '')) rows.push({ line: first, cells });
    [line, first, cells] = [line + 1, line + 1, []];
  }
  return { rows };
}
