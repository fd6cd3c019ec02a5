/** An SMS gateway as its form holds it, and as the API takes it; pure */
import type { SmsGateway } from './api-types.ts';
import { entriesOf } from './format.ts';
import { changedFields, clearedFields } from './forms/form-changes.ts';

/** Presets of HTTP gateways, and the other kinds. */
export const GATEWAY_TYPES = [
  'twilio',
  'telnyx',
  'vonage',
  'seven',
  'webhook',
  'sip',
  'smpp',
] as const;

export type GatewayType = (typeof GATEWAY_TYPES)[number];

/** Formats of requests to a customer's own server: the standard one, or JSON or a form with other fields. */
export const REQUEST_FORMATS = ['standard', 'json', 'form'] as const;

/** A field of the request, or a header of it. */
export interface TemplateRow {
  readonly name: string;
  /** With places such as `{to}`. */
  readonly value: string;
}

export const NEW_ROW: TemplateRow = { name: '', value: '' };

/** At first the fields of the standard format. */
const NEW_FIELDS: readonly TemplateRow[] = ['id', 'to', 'from', 'text', 'statusUrl'].map((name) => {
  return { name, value: `{${name}}` };
});

export const NEW_GATEWAY = {
  name: '',
  type: 'twilio',
  from: '',
  username: '',
  /** Empty for the stored one. */
  secret: '',
  /** Empty for the address of the preset. */
  url: '',
  /** One of `REQUEST_FORMATS`; headers, fields and `idPath` do not count for `standard`. */
  format: 'standard',
  headers: [] as readonly TemplateRow[],
  fields: NEW_FIELDS,
  /** Empty where the answer has none. */
  idPath: 'id',
  /** One a line. */
  allowedLinks: '',
  dailyMax: '200',
  timeoutMs: '8000',
};

/** Values of the gateway form, each as the text of its input. */
export type GatewayDraft = Readonly<typeof NEW_GATEWAY>;

export function draftOf(gateway: SmsGateway): GatewayDraft {
  const { name, from, dailyMax, timeoutMs, allowedLinks, template } = gateway;
  return {
    ...NEW_GATEWAY,
    ...(template !== null && templateFields(template)),
    ...{ name, from, type: typeOf(gateway), secret: '' },
    username: gateway.username ?? '',
    url: gateway.url ?? '',
    allowedLinks: allowedLinks.join('\n'),
    dailyMax: String(dailyMax),
    timeoutMs: String(timeoutMs),
  };
}

function templateFields({ format, headers, body, idPath }: NonNullable<SmsGateway['template']>) {
  return { format, headers: rowsOf(headers), fields: rowsOf(body), idPath: idPath ?? '' };
}

function rowsOf(texts: Readonly<Record<string, string>>): readonly TemplateRow[] {
  return Object.entries(texts).map(([name, value]) => ({ name, value }));
}

/** A row a line, to compare two versions. */
export function rowsText(rows: readonly TemplateRow[]): string {
  return rows.map(({ name, value }) => `${name}: ${value}`).join('\n');
}

export function typeOf({ kind, preset }: SmsGateway): GatewayType {
  return kind === 'http' ? (preset ?? 'webhook') : kind;
}

/** Credentials that a gateway of the type has. */
export function needsOf(type: string): { readonly username: boolean; readonly secret: boolean } {
  return {
    username: ['twilio', 'vonage', 'webhook', 'smpp'].includes(type),
    secret: type !== 'sip',
  };
}

/** Body of the request that creates a gateway; a field that is empty is left out. */
export function bodyOf(draft: GatewayDraft): Readonly<Record<string, unknown>> {
  const isOtherKind = draft.type === 'sip' || draft.type === 'smpp';
  return {
    name: draft.name,
    ...(isOtherKind ? { kind: draft.type } : { preset: draft.type }),
    ...fieldsOf(draft),
  };
}

/** Body of the request that changes a gateway: only the fields changed since the form began. */
export function changesOf(
  draft: GatewayDraft,
  begun: GatewayDraft,
): Readonly<Record<string, unknown>> {
  const [now, before] = [fieldsOf(draft), fieldsOf(begun)];
  return { ...changedFields(now, before), ...clearedFields(now, before) };
}

function fieldsOf(draft: GatewayDraft): Readonly<Record<string, unknown>> {
  const { username, secret, url } = draft;
  const given = Object.entries({ username: username.trim(), secret, url: url.trim() });
  return {
    from: draft.from.trim(),
    ...Object.fromEntries(given.filter(([, value]) => value !== '')),
    ...(hasTemplate(draft) && { template: templateOf(draft) }),
    allowedLinks: entriesOf(draft.allowedLinks, /\s+/),
    dailyMax: Number(draft.dailyMax),
    timeoutMs: Number(draft.timeoutMs),
  };
}

/** Whether the gateway has a format of its own; only a customer's own server can have one. */
export function hasTemplate({ type, format }: GatewayDraft): boolean {
  return type === 'webhook' && format !== 'standard';
}

function templateOf({ format, headers, fields, idPath }: GatewayDraft) {
  return {
    format,
    headers: recordOf(headers),
    body: recordOf(fields),
    idPath: idPath.trim() === '' ? null : idPath.trim(),
  };
}

/** Template rows as a record, without rows that have no name. */
function recordOf(rows: readonly TemplateRow[]): Readonly<Record<string, string>> {
  const named = rows.filter(({ name }) => name.trim() !== '');
  return Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]));
}
