/** A trunk with its price as its form holds it, and as the API takes it; pure */
import type { Trunk } from '../api-types.ts';
import { entriesOf } from '../format.ts';
import { changedFields, clearedFields } from '../forms/form-changes.ts';

/** Separators of a list's entries. */
const SEPARATOR = /[\s,;]+/;

type TrunkPrice = NonNullable<Trunk['price']>;

/** The price of a direction, as the texts of its inputs; without amounts it is unknown. */
type PriceTexts = Readonly<
  Record<'perMinute' | 'currency' | 'incrementSeconds' | 'connection', string>
>;

/** Prices by the direction of calls. */
export interface PriceDraft {
  readonly inbound: PriceTexts;
  readonly outbound: PriceTexts;
}

const NO_PRICE: PriceTexts = { perMinute: '', currency: '', incrementSeconds: '', connection: '' };

function priceDraftOf(price: TrunkPrice | null): PriceDraft {
  const textsOf = (one: TrunkPrice['inbound'] | undefined) =>
    one == null ? NO_PRICE : mapValues(one, String);
  return { inbound: textsOf(price?.inbound), outbound: textsOf(price?.outbound) };
}

/** The field `price` of the API, left out where both prices are unknown. */
function priceFieldsOf(draft: PriceDraft): Readonly<Record<string, unknown>> {
  const [inbound, outbound] = [directionOf(draft.inbound), directionOf(draft.outbound)];
  return inbound === null && outbound === null ? {} : { price: { inbound, outbound } };
}

/** Null where neither amount is there: a currency alone is no price. */
function directionOf(texts: PriceTexts): Readonly<Record<string, unknown>> | null {
  if (texts.perMinute.trim() === '' && texts.connection.trim() === '') return null;
  const { currency, ...numbers } = texts;
  const given = Object.entries(numbers).filter(([, text]) => text.trim() !== '');
  return {
    ...Object.fromEntries(given.map(([name, text]) => [name, Number(text)])),
    currency: currency.trim().toUpperCase(),
  };
}

/** A new trunk as its wizard holds it. */
export interface WizardDraft extends TrunkDraft {
  /** Name of a preset; empty for a carrier without one. */
  readonly preset: string;
  /** Ids of agents by the number that each is to answer; empty for none. Numbers that stay as they are have no entry. */
  readonly answerers: Readonly<Record<string, string>>;
}

export const NEW_TRUNK = {
  name: '',
  proxy: '',
  transport: 'udp',
  domain: '',
  username: '',
  /** Empty for the stored one. */
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
  price: priceDraftOf(null),
};

/** Values of the trunk form, each as the text of its input; lists have one entry a line. */
export type TrunkDraft = Readonly<typeof NEW_TRUNK>;

/** The fields of `TrunkFields`; fields of the price have a component of their own. */
export type TrunkFieldName = Exclude<keyof TrunkDraft, 'price'>;

/** Fields of a trunk that can be changed, without its price. */
export const EDITABLE_FIELDS = (Object.keys(NEW_TRUNK) as (keyof TrunkDraft)[]).filter(
  (field) => field !== 'name' && field !== 'price',
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
    price: priceDraftOf(trunk.price),
  };
}

/** Body of the request that creates a trunk; a field that is empty is left out. */
export function bodyOf(draft: TrunkDraft): Readonly<Record<string, unknown>> {
  return { name: draft.name.trim(), ...fieldsOf(draft) };
}

/** Body of the request that changes a trunk: only the fields changed since the form began; null clears a field. */
export function changesOf(draft: TrunkDraft, begun: TrunkDraft): Readonly<Record<string, unknown>> {
  const [now, before] = [fieldsOf(draft), fieldsOf(begun)];
  return { ...changedFields(now, before), ...clearedFields(now, before) };
}

/** The single numbers of a text of numbers, each once; beginnings of numbers are left out. */
export function numbersOf(text: string): readonly string[] {
  return [...new Set(entriesOf(text, SEPARATOR).filter((entry) => /^\+\d+$/.test(entry)))];
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
    ...priceFieldsOf(draft.price),
    ...mapValues(lists, (text) => entriesOf(text, SEPARATOR)),
    ...mapValues(
      Object.fromEntries(Object.entries(limits).filter(([, text]) => text.trim() !== '')),
      Number,
    ),
  };
}

function mapValues<Name extends string, From, To>(
  values: Readonly<Record<Name, From>>,
  map: (value: From) => To,
): Readonly<Record<Name, To>> {
  return Object.fromEntries(
    Object.entries<From>(values).map(([name, value]) => [name, map(value)]),
  ) as Record<Name, To>;
}

function textOf(limit: number | null): string {
  return limit === null ? '' : String(limit);
}
