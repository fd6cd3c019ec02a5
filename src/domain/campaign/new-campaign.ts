/** New campaigns, and the lists of contacts that they are made from: JSON, or comma-separated values as spreadsheets write them (RFC 4180, also with semicolons or tabs); pure */
import type { Agent } from '../agent/agent.ts';
import { isPlainText } from '../agent/agent-rules.ts';
import { OUTBOUND_LIMITS } from '../dialing/outbound-rules.ts';
import { isE164 } from '../dialing/phone-number.ts';
import { bodyFault, type ErrorDetail, requireNoFaults, ServiceError } from '../service-error.ts';
import {
  CAMPAIGN_LIMITS,
  type Campaign,
  type Contact,
  checkCampaignWindow,
  type NewContact,
} from './campaign.ts';

/** A campaign as customers ask for it, of the right types and lengths. */
interface CampaignDraft {
  readonly name: string;
  readonly contacts?: readonly ContactDraft[] | undefined;
  readonly csv?: string | undefined;
  readonly from?: string | undefined;
  readonly callsPerMinute: number;
  readonly maxConcurrentCalls: number;
  readonly notBefore?: Date | undefined;
  readonly notAfter?: Date | undefined;
  readonly retries?: { readonly max: number; readonly delaySeconds: number } | undefined;
}

/** @throws {ServiceError} VALIDATION_ERROR naming every wrong row, or when the window is wrong. */
export function newCampaign(
  draft: CampaignDraft,
  { id, agent, now }: { readonly id: string; readonly agent: Agent; readonly now: Date },
): { readonly campaign: Campaign; readonly contacts: readonly NewContact[] } {
  const { name, from = null, callsPerMinute, maxConcurrentCalls, notBefore, notAfter } = draft;
  checkCampaignWindow({ notBefore, notAfter }, now);
  const campaign: Campaign = {
    id,
    accountId: agent.accountId,
    environment: agent.environment,
    agentId: agent.id,
    ...{ name, from, callsPerMinute, maxConcurrentCalls },
    status: 'running',
    statusReason: null,
    notBeforeAt: notBefore ?? null,
    notAfterAt: notAfter ?? null,
    retriesMax: draft.retries?.max ?? 0,
    retryDelaySeconds: draft.retries?.delaySeconds ?? CAMPAIGN_LIMITS.retryDelaySeconds.default,
    createdAt: now,
    updatedAt: now,
    endedAt: null,
  };
  const contacts = readContacts(draft).map(({ to, metadata = {}, overrides = {} }) => ({
    ...{ to, metadata, overrides },
  }));
  return { campaign, contacts };
}

/** A contact as a request has it; metadata and overrides are within their limits. */
interface ContactDraft extends Pick<Contact, 'to'> {
  readonly metadata?: Contact['metadata'] | undefined;
  readonly overrides?: Contact['overrides'] | undefined;
}

/** A draft, and how errors name it: `contacts.0` or `csv.line 2`. */
interface Row {
  readonly name: string;
  readonly draft: ContactDraft;
}

/** The column of the numbers in CSV; all others become metadata. */
const NUMBER_COLUMN = 'to';

/**
 * Reads a list of contacts.
 *
 * @throws {ServiceError} VALIDATION_ERROR naming every wrong row, also one that repeats the number of another.
 */
export function readContacts(given: {
  readonly contacts?: readonly ContactDraft[] | undefined;
  readonly csv?: string | undefined;
}): readonly ContactDraft[] {
  const { contacts, csv } = given;
  if ((contacts === undefined) === (csv === undefined)) {
    throw bodyFault('contacts', 'expected either contacts or csv');
  }
  const rows = csv === undefined ? rowsOf(contacts ?? []) : rowsOfCsv(csv);
  const { contactsMax } = CAMPAIGN_LIMITS;
  if (rows.length === 0 || rows.length > contactsMax) {
    const expected = `expected 1 to ${contactsMax} contacts and a body of 1 MiB at most, found ${rows.length}; split a longer list into several campaigns`;
    throw bodyFault(csv === undefined ? 'contacts' : 'csv', expected);
  }
  requireRows(faultsOf(rows), rows.length);
  return rows.map(({ draft }) => draft);
}

function rowsOf(contacts: readonly ContactDraft[]): readonly Row[] {
  return contacts.map((draft, index) => ({ name: `contacts.${index}`, draft }));
}

function rowsOfCsv(text: string): readonly Row[] {
  const [header, ...lines] = linesOf(text);
  const names = header?.cells ?? [];
  const lowered = names.map((name) => name.toLowerCase());
  if (lowered.filter((name) => name === NUMBER_COLUMN).length !== 1) {
    throw bodyFault('csv', `expected a first line of column names, one of them "${NUMBER_COLUMN}"`);
  }
  const wrong = names.find((name, index) => !isColumn(name) || names.indexOf(name) !== index);
  if (wrong !== undefined || names.length > OUTBOUND_LIMITS.metadataKeysMax) {
    const expected = `expected ${OUTBOUND_LIMITS.metadataKeysMax} columns at most, each with a name of its own`;
    throw bodyFault('csv', expected);
  }
  const numberIndex = lowered.indexOf(NUMBER_COLUMN);
  requireRows(
    lines.flatMap(({ line, cells }) => lengthFault(line, cells, names)),
    lines.length,
  );
  return lines.map(({ line, cells }) => ({
    name: `csv.line ${line}`,
    draft: { to: cells[numberIndex] ?? '', metadata: metadataOf(names, cells, numberIndex) },
  }));
}

function linesOf(text: string): readonly CsvRow[] {
  try {
    return csvRows(text);
  } catch (error) {
    if (error instanceof CsvError) throw bodyFault('csv', error.message);
    throw error;
  }
}

function isColumn(name: string): boolean {
  return name !== '' && name !== '__proto__' && isPlainText(name);
}

function lengthFault(
  line: number,
  cells: readonly string[],
  names: readonly string[],
): readonly ErrorDetail[] {
  const { metadataBytesMax } = OUTBOUND_LIMITS;
  const path = `csv.line ${line}`;
  if (cells.length > names.length) {
    const message = `expected ${names.length} columns as in the first line, found ${cells.length}`;
    return [{ path, message }];
  }
  if (!cells.every(isPlainText)) {
    return [{ path, message: 'expected well-formed Unicode without NUL' }];
  }
  const isLong = Buffer.byteLength(JSON.stringify([names, cells])) > metadataBytesMax;
  return isLong ? [{ path, message: `expected ${metadataBytesMax} bytes at most` }] : [];
}

/** The columns but the number's; empty cells are left out. */
function metadataOf(names: readonly string[], cells: readonly string[], numberIndex: number) {
  const others = names.flatMap((name, index) => {
    const cell = cells[index] ?? '';
    return index === numberIndex || cell === '' ? [] : [[name, cell] as const];
  });
  return Object.fromEntries(others);
}

/** A number that comes twice is refused: which of the two rows is right, only the customer knows. */
function faultsOf(rows: readonly Row[]): readonly ErrorDetail[] {
  const seen = new Map<string, string>();
  return rows.flatMap(({ name, draft: { to } }) => {
    const path = `${name}.to`;
    if (!isE164(to)) return [{ path, message: 'must be E.164, such as +390612345678' }];
    const first = seen.get(to);
    if (first !== undefined) return [{ path, message: `repeats the number of ${first}` }];
    seen.set(to, name);
    return [];
  });
}

function requireRows(faults: readonly ErrorDetail[], rows: number): void {
  const [first, ...others] = faults;
  if (first === undefined) return;
  if (others.length === 0) requireNoFaults(faults);
  const { path, message } = first;
  throw new ServiceError(
    'VALIDATION_ERROR',
    `Cannot read the list: ${faults.length} of ${rows} rows are wrong, the first is ${path}: ${message}`,
    faults,
  );
}

/** One line with the number it has in the text, from 1. */
interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
}

/** A text that ends inside of quotes. */
class CsvError extends Error {
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

/** Pattern of a cell, quoted or bare, and its end: the separator, a line break, or the end of the text. */
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
