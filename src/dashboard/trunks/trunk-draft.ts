/** A trunk with its price as its form holds it, and as the API takes it; pure */
import type { Trunk } from '../api-types.ts';
import { changedFields, clearedFields } from '../forms/form-changes.ts';

type TrunkPrice = NonNullable<Trunk['price']>;

/** As inputs have it; a direction without amounts is unknown. */
export interface PriceDraft {
  readonly inboundPerMinute: string;
  readonly inboundCurrency: string;
  readonly inboundIncrement: string;
  readonly inboundConnection: string;
  readonly outboundPerMinute: string;
  readonly outboundCurrency: string;
  readonly outboundIncrement: string;
  readonly outboundConnection: string;
}

export const NO_PRICE: PriceDraft = {
  inboundPerMinute: '',
  inboundCurrency: '',
  inboundIncrement: '',
  inboundConnection: '',
  outboundPerMinute: '',
  outboundCurrency: '',
  outboundIncrement: '',
  outboundConnection: '',
};

function priceDraftOf(price: TrunkPrice | null): PriceDraft {
  const { inbound = null, outbound = null } = price ?? {};
  return {
    ...NO_PRICE,
    ...(inbound && {
      inboundPerMinute: String(inbound.perMinute),
      inboundCurrency: inbound.currency,
      inboundIncrement: String(inbound.incrementSeconds),
      inboundConnection: String(inbound.connection),
    }),
    ...(outbound && {
      outboundPerMinute: String(outbound.perMinute),
      outboundCurrency: outbound.currency,
      outboundIncrement: String(outbound.incrementSeconds),
      outboundConnection: String(outbound.connection),
    }),
  };
}

/** The field `price` of the API, left out where nothing is known of it. */
function priceFieldsOf(draft: PriceDraft): Readonly<Record<string, unknown>> {
  const inbound = directionOf({
    perMinute: draft.inboundPerMinute,
    currency: draft.inboundCurrency,
    incrementSeconds: draft.inboundIncrement,
    connection: draft.inboundConnection,
  });
  const outbound = directionOf({
    perMinute: draft.outboundPerMinute,
    currency: draft.outboundCurrency,
    incrementSeconds: draft.outboundIncrement,
    connection: draft.outboundConnection,
  });
  return inbound === null && outbound === null ? {} : { price: { inbound, outbound } };
}

/** Null where neither amount is there: a currency alone is no price. */
function directionOf(
  texts: Readonly<Record<'perMinute' | 'currency' | 'incrementSeconds' | 'connection', string>>,
): Readonly<Record<string, unknown>> | null {
  if (texts.perMinute.trim() === '' && texts.connection.trim() === '') return null;
  const { currency, ...numbers } = texts;
  const given = Object.entries(numbers).filter(([, text]) => text.trim() !== '');
  return {
    ...Object.fromEntries(given.map(([name, text]) => [name, Number(text)])),
    currency: currency.trim().toUpperCase(),
  };
}

/** Every field is text, as inputs have it; lists have one entry a line. */
export interface TrunkDraft extends PriceDraft {
  readonly name: string;
  readonly proxy: string;
  readonly transport: string;
  readonly domain: string;
  readonly username: string;
  /** Empty for the stored one. */
  readonly password: string;
  readonly register: string;
  readonly numbers: string;
  readonly callerId: string;
  readonly allowedSources: string;
  readonly codecs: string;
  readonly srtp: string;
  readonly transfer: string;
  readonly acceptTransfers: string;
  readonly maxCalls: string;
  readonly callsPerSecond: string;
}

/** A new trunk as its wizard holds it. */
export interface WizardDraft extends TrunkDraft {
  /** Name of a preset; empty for a carrier of one's own. */
  readonly preset: string;
  /** Ids of agents by the number that each is to answer; empty for none. Numbers that stay as they are have no entry. */
  readonly answerers: Readonly<Record<string, string>>;
}

export const NEW_TRUNK: TrunkDraft = {
  name: '',
  proxy: '',
  transport: 'udp',
  domain: '',
  username: '',
  password: '',
  register: 'false',
  numbers: '',
  callerId: '',
  allowedSources: '',
  codecs: 'PCMU\nPCMA',
  srtp: 'off',
  transfer: 'auto',
  acceptTransfers: 'false',
  maxCalls: '',
  callsPerSecond: '',
  ...NO_PRICE,
};

/** The fields of `TrunkFields`; those of the price have a part of their own. */
export type TrunkFieldName = Exclude<keyof TrunkDraft, keyof PriceDraft>;

/** What can be changed of a trunk, without its price. */
export const EDITABLE_FIELDS = (Object.keys(NEW_TRUNK) as TrunkFieldName[]).filter(
  (field) => field !== 'name' && !(field in NO_PRICE),
);

export function draftOf(trunk: Trunk): TrunkDraft {
  const { name, proxy, transport, srtp, transfer } = trunk;
  return {
    ...{ name, proxy, transport, srtp, transfer, password: '' },
    domain: trunk.domain ?? '',
    username: trunk.username ?? '',
    register: String(trunk.register),
    acceptTransfers: String(trunk.acceptTransfers),
    numbers: trunk.numbers.join('\n'),
    callerId: trunk.callerId ?? '',
    allowedSources: trunk.allowedSources.join('\n'),
    codecs: trunk.codecs.join('\n'),
    maxCalls: textOf(trunk.maxCalls),
    callsPerSecond: textOf(trunk.callsPerSecond),
    ...priceDraftOf(trunk.price),
  };
}

/** What is sent to make a trunk; a field that is empty is left out. */
export function bodyOf(draft: TrunkDraft): Readonly<Record<string, unknown>> {
  return { name: draft.name.trim(), ...fieldsOf(draft) };
}

/** What is sent to change a trunk: only what differs from what the form began with; null clears a field. */
export function changesOf(draft: TrunkDraft, begun: TrunkDraft): Readonly<Record<string, unknown>> {
  const [now, before] = [fieldsOf(draft), fieldsOf(begun)];
  return { ...changedFields(now, before), ...clearedFields(now, before) };
}

/** The single numbers of a text of numbers, each once; beginnings of numbers are left out. */
export function numbersOf(text: string): readonly string[] {
  return [...new Set(entriesOf(text).filter((entry) => /^\+\d+$/.test(entry)))];
}

function fieldsOf(draft: TrunkDraft): Readonly<Record<string, unknown>> {
  const { proxy, transport, domain, username, callerId, srtp, transfer } = draft;
  const texts = { proxy, transport, domain, username, callerId, srtp, transfer };
  const trimmed = Object.entries(texts).map(([name, text]) => [name, text.trim()] as const);
  const lists = {
    numbers: draft.numbers,
    allowedSources: draft.allowedSources,
    codecs: draft.codecs,
  };
  const limits = { maxCalls: draft.maxCalls, callsPerSecond: draft.callsPerSecond };
  return {
    ...Object.fromEntries(trimmed.filter(([, text]) => text !== '')),
    // Spaces may be part of a password.
    ...(draft.password !== '' && { password: draft.password }),
    register: draft.register === 'true',
    acceptTransfers: draft.acceptTransfers === 'true',
    ...priceFieldsOf(draft),
    ...mapValues(lists, entriesOf),
    ...mapValues(
      Object.fromEntries(Object.entries(limits).filter(([, text]) => text.trim() !== '')),
      Number,
    ),
  };
}

function mapValues<Value>(
  texts: Readonly<Record<string, string>>,
  map: (text: string) => Value,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, map(text)]));
}

function entriesOf(text: string): readonly string[] {
  return text.split(/[\s,;]+/).filter((entry) => entry !== '');
}

function textOf(limit: number | null): string {
  return limit === null ? '' : String(limit);
}
