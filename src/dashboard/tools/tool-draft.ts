/** An HTTP tool as its form holds it and as the API takes it, and where a text of it stops being JSON; pure */
import type { HttpTool } from '../api-types.ts';
import { changedFields } from '../forms/form-changes.ts';

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export interface HeaderRow {
  readonly name: string;
  /** Empty for a secret that stays as it is. */
  readonly value: string;
  readonly kind: string;
}

/** Shown for a stored secret, and for one that was typed. */
const [KEPT_SECRET, TYPED_SECRET] = ['•••', '••••••'];

export const NEW_HEADER: HeaderRow = { name: '', value: '', kind: 'plain' };

export const NEW_TOOL = {
  name: '',
  description: '',
  /** JSON Schema, indented. */
  parameters: JSON.stringify(
    {
      type: 'object',
      properties: { orderId: { type: 'string', description: 'Such as A-1047.', maxLength: 20 } },
      required: ['orderId'],
    },
    null,
    2,
  ),
  method: 'GET',
  url: '',
  headers: [] as readonly HeaderRow[],
  timeoutMs: '10000',
  /** Empty for the phrase of the agent's language. */
  sayWhileWaiting: '',
  /** Empty for the whole answer. */
  resultPath: '',
};

/** Values of the tool form, each as the text of its input. */
export type ToolDraft = Readonly<typeof NEW_TOOL>;

export function draftOf(tool: HttpTool): ToolDraft {
  return {
    ...tool,
    parameters: JSON.stringify(tool.parameters, null, 2),
    headers: headerRows(tool.headers),
    timeoutMs: String(tool.timeoutMs),
    sayWhileWaiting: tool.sayWhileWaiting ?? '',
    resultPath: tool.resultPath ?? '',
  };
}

export function headerRows(headers: HttpTool['headers']): readonly HeaderRow[] {
  return headers.map(({ name, value, secret }) => ({
    name,
    value: value ?? '',
    kind: secret ? 'secret' : 'plain',
  }));
}

/** Headers as the API takes them, without empty rows; a secret without a value keeps the stored one. */
export function headersOf(rows: readonly HeaderRow[]) {
  const filled = rows.filter(({ name, value }) => `${name}${value}`.trim() !== '');
  return filled.map(({ name, value, kind }) => ({
    name: name.trim(),
    value: kind === 'secret' && value === '' ? null : value,
    secret: kind === 'secret',
  }));
}

/** A header a line, to compare two versions; the value of a secret is never in it. */
export function headersText(rows: readonly HeaderRow[]): string {
  const shown = ({ value, kind }: HeaderRow) => {
    if (kind !== 'secret') return value;
    return value === '' ? KEPT_SECRET : TYPED_SECRET;
  };
  return rows.map((row) => `${row.name}: ${shown(row)}`).join('\n');
}

/** The draft as it may be kept: a secret that was typed is not. */
export function withoutSecrets(draft: ToolDraft): ToolDraft {
  const headers = draft.headers.map((row) => (row.kind === 'secret' ? { ...row, value: '' } : row));
  return { ...draft, headers };
}

/** Body of the request that creates a tool. @throws {SyntaxError} when the parameters are no JSON. */
export function bodyOf(draft: ToolDraft): Readonly<Record<string, unknown>> {
  const { name, description, method, url } = draft;
  return {
    ...{ name, description, method, url: url.trim() },
    parameters: JSON.parse(draft.parameters),
    headers: headersOf(draft.headers),
    timeoutMs: Number(draft.timeoutMs),
    sayWhileWaiting: draft.sayWhileWaiting.trim() === '' ? null : draft.sayWhileWaiting,
    resultPath: draft.resultPath.trim() === '' ? null : draft.resultPath,
  };
}

/** Body of the request that changes a tool: only the fields changed since the form began. @throws {SyntaxError} */
export function changesOf(draft: ToolDraft, begun: ToolDraft): Readonly<Record<string, unknown>> {
  return changedFields(bodyOf(draft), bodyOf(begun));
}

/** Names of the arguments that a schema describes; none where it is no JSON. */
export function argumentNames(parameters: string): readonly string[] {
  return Object.keys(propertiesOf(parameters));
}

/** Arguments to begin a test with: a value of the right type for each property. */
export function sampleArguments(parameters: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(propertiesOf(parameters)).map(([name, schema]) => [name, sampleOf(schema)]),
  );
}

type Schema = Readonly<Record<string, unknown>>;

function propertiesOf(parameters: string): Readonly<Record<string, Schema>> {
  if (jsonFault(parameters) !== undefined) return {};
  const { properties } = (JSON.parse(parameters) ?? {}) as { readonly properties?: unknown };
  const isObject = typeof properties === 'object' && properties !== null;
  return isObject ? (properties as Readonly<Record<string, Schema>>) : {};
}

function sampleOf(schema: Schema): unknown {
  if (Array.isArray(schema?.enum)) return schema.enum[0];
  switch (schema?.type) {
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return '';
  }
}

const STRING = String.raw`"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"`;
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;
const TOKEN = new RegExp(
  String.raw`\s*(?:(${STRING})|(?:${NUMBER})|true|false|null|([{}[\],:]))`,
  'uy',
);

/** Line and column of the first error, counted from 1; undefined where the text is JSON. */
export function jsonFault(
  text: string,
): { readonly line: number; readonly column: number } | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    const before = text.slice(0, faultAt(text)).split('\n');
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  }
}

/** Tokens that may come next: `k` is a key, `v` a value, a sign itself; several where there is a choice. */
type Wanted = string;

/** Index of the first token that has no place; the end where a token is missing. */
function faultAt(text: string): number {
  const open: string[] = [];
  let wanted: Wanted = 'v';
  let index = 0;
  for (;;) {
    TOKEN.lastIndex = index;
    const [whole, string, sign] = TOKEN.exec(text) ?? [];
    const kind = sign ?? (string !== undefined && wanted.includes('k') ? 'k' : 'v');
    const isValueSign = kind === '{' || kind === '[';
    const isTaken = wanted.includes(kind) || (isValueSign && wanted.includes('v'));
    if (whole === undefined || !isTaken)
      return index + (/^\s*/.exec(text.slice(index))?.[0] ?? '').length;
    index += whole.length;
    wanted = wantedAfter(kind, open);
  }
}

function wantedAfter(kind: string, open: string[]): Wanted {
  if (kind === '{' || kind === '[') {
    open.push(kind);
    return kind === '{' ? 'k}' : 'v]';
  }
  if (kind === 'k') return ':';
  if (kind === ':') return 'v';
  if (kind === ',') return open.at(-1) === '{' ? 'k' : 'v';
  if (kind === '}' || kind === ']') open.pop();
  const around = open.at(-1);
  if (around === undefined) return '';
  return around === '{' ? ',}' : ',]';
}
