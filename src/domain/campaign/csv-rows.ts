/** Reads comma-separated values as spreadsheets write them (RFC 4180, also with semicolons or tabs); pure */

/** One line with the number it has in the text, from 1. */
export interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
}

/** A text that ends inside of quotes. */
export class CsvError extends Error {
  override readonly name = 'CsvError';
}

const SEPARATORS = [',', ';', '\t'] as const;

/**
 * Splits a text into rows; blank lines are left out. The separator is the one that is most frequent in the first line.
 *
 * @throws {CsvError} when a quote is never closed.
 * @see RFC 4180 section 2
 */
export function csvRows(text: string): readonly CsvRow[] {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const pattern = cellPattern(separatorOf(plain));
  const rows: CsvRow[] = [];
  let [line, cells]: [number, string[]] = [1, []];
  let first = 1;
  for (const [, quoted, bare = '', end = ''] of plain.matchAll(pattern)) {
    if (quoted === undefined && bare.trimStart().startsWith('"')) {
      throw new CsvError(`line ${line}: a quote is never closed, or text follows it`);
    }
    cells.push(quoted === undefined ? bare.trim() : quoted.replaceAll('""', '"').trim());
    line += (quoted ?? '').split('\n').length - 1;
    if (end !== '' && !end.includes('\n') && end !== '\r') continue;
    if (cells.some((cell) => cell !== '')) rows.push({ line: first, cells });
    cells = [];
    line += 1;
    first = line;
  }
  return rows;
}

/** A cell, quoted or bare, and what follows it: the separator, a line break, or the end. */
function cellPattern(separator: string): RegExp {
  const bare = `[^${separator}\\r\\n]*`;
  return new RegExp(
    `(?:[ ]*"([^"]*(?:""[^"]*)*)"[ ]*|(${bare}))(${separator}|\\r?\\n|\\r|$)`,
    'gy',
  );
}

function separatorOf(text: string): string {
  const [first = ''] = text.split(/\r?\n|\r/, 1);
  const count = (separator: string) => first.split(separator).length;
  return SEPARATORS.reduce((best, each) => (count(each) > count(best) ? each : best));
}
