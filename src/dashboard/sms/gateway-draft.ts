/** An SMS gateway as its form holds it, and as the API takes it; pure */
import type { SmsGateway } from '../api-types.ts';
import { changedFields, clearedFields } from '../changed-fields.ts';

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

/** Every field is text, as inputs have it. */
export interface GatewayDraft {
  readonly name: string;
  readonly type: string;
  readonly from: string;
  readonly username: string;
  /** Empty for the stored one. */
  readonly secret: string;
  /** Empty for the address of the preset. */
  readonly url: string;
  /** One a line. */
  readonly allowedLinks: string;
  readonly dailyMax: string;
  readonly timeoutMs: string;
}

export const NEW_GATEWAY: GatewayDraft = {
  name: '',
  type: 'twilio',
  from: '',
  username: '',
  secret: '',
  url: '',
  allowedLinks: '',
  dailyMax: '200',
  timeoutMs: '8000',
};

export function draftOf(gateway: SmsGateway): GatewayDraft {
  const { name, from, dailyMax, timeoutMs, allowedLinks } = gateway;
  return {
    ...{ name, from, type: typeOf(gateway), secret: '' },
    username: gateway.username ?? '',
    url: gateway.url ?? '',
    allowedLinks: allowedLinks.join('\n'),
    dailyMax: String(dailyMax),
    timeoutMs: String(timeoutMs),
  };
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

/** What is sent to make a gateway; a field that is empty is left out. */
export function bodyOf(draft: GatewayDraft): Readonly<Record<string, unknown>> {
  const isOtherKind = draft.type === 'sip' || draft.type === 'smpp';
  return {
    name: draft.name,
    ...(isOtherKind ? { kind: draft.type } : { preset: draft.type }),
    ...fieldsOf(draft),
  };
}

/** What is sent to change a gateway: only what differs from what the form began with. */
export function changesOf(
  draft: GatewayDraft,
  begun: GatewayDraft,
): Readonly<Record<string, unknown>> {
  const [now, before] = [fieldsOf(draft), fieldsOf(begun)];
  return { ...changedFields(now, before), ...clearedFields(now, before) };
}

function fieldsOf(draft: GatewayDraft): Readonly<Record<string, unknown>> {
  const { username, secret, url } = draft;
  const links = draft.allowedLinks.split(/\s+/).filter((link) => link !== '');
  const given = Object.entries({ username: username.trim(), secret, url: url.trim() });
  return {
    from: draft.from.trim(),
    ...Object.fromEntries(given.filter(([, value]) => value !== '')),
    allowedLinks: links,
    dailyMax: Number(draft.dailyMax),
    timeoutMs: Number(draft.timeoutMs),
  };
}
