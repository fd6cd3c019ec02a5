/** The price of a trunk as its form holds it, and as the API takes it; pure */
import type { Trunk } from '../api-types.ts';

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

export function priceDraftOf(price: TrunkPrice | null): PriceDraft {
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
export function priceFieldsOf(draft: PriceDraft): Readonly<Record<string, unknown>> {
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
