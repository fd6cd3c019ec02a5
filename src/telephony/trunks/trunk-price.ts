/** The price of a trunk in its settings: the checks of its fields, and their defaults; pure */
import { AMOUNT_DECIMALS_MAX, type CallPrice, isAmount } from '../../domain/call/call-cost.ts';
import type { TrunkPrice } from '../../domain/dialing/trunk.ts';
import { isObject } from '../../lib/unknown-value.ts';

/** One direction, once every field has passed its check. */
type PriceOfDirection = Pick<CallPrice, 'perMinute' | 'currency'> & Partial<CallPrice>;

/** A price in the form of the settings, after the check of every field. */
export interface PriceSettings {
  readonly inbound?: PriceOfDirection | null;
  readonly outbound?: PriceOfDirection | null;
}

/** A wrong field: its path within the trunk, such as `price.inbound.currency`, and what was expected there. */
interface PriceFault {
  readonly path: string;
  readonly message: string;
}

/** More than any carrier asks. */
const PER_MINUTE_MAX = 100;
const CONNECTION_MAX = 1_000_000;

const INCREMENT_SECONDS_MAX = 60;

const DEFAULTS = { incrementSeconds: INCREMENT_SECONDS_MAX, connection: 0 } as const;

interface PriceCheck {
  readonly expected: string;
  readonly allows: (value: unknown) => boolean;
}

function amount(max: number): PriceCheck {
  return {
    expected: `a number from 0 to ${max} with ${AMOUNT_DECIMALS_MAX} decimals at most`,
    allows: (value) => typeof value === 'number' && value >= 0 && value <= max && isAmount(value),
  };
}

const FIELDS: Readonly<Record<keyof CallPrice, PriceCheck>> = {
  perMinute: amount(PER_MINUTE_MAX),
  currency: {
    expected: 'the three capital letters of a currency (ISO 4217), such as EUR',
    allows: (value) => typeof value === 'string' && /^[A-Z]{3}$/.test(value),
  },
  incrementSeconds: {
    expected: `a whole number from 1 to ${INCREMENT_SECONDS_MAX}`,
    allows: (value) =>
      Number.isInteger(value) && Number(value) >= 1 && Number(value) <= INCREMENT_SECONDS_MAX,
  },
  connection: amount(CONNECTION_MAX),
};

const DIRECTIONS: readonly string[] = ['inbound', 'outbound'] satisfies (keyof TrunkPrice)[];

const PRICE_EXPECTED = 'expected an object with inbound, outbound or both';

const DIRECTION_EXPECTED = 'expected an object with perMinute and currency, or null';

/** Every wrong field of the price of a trunk; empty where all are right. */
export function faultsOfPrice(price: unknown): readonly PriceFault[] {
  if (!isObject(price)) return [{ path: 'price', message: PRICE_EXPECTED }];
  return Object.entries(price).flatMap(([direction, value]) => {
    const path = `price.${direction}`;
    if (!DIRECTIONS.includes(direction)) return [{ path, message: 'unknown field' }];
    if (value === null) return [];
    if (!isObject(value)) return [{ path, message: DIRECTION_EXPECTED }];
    return faultsOfDirection(path, value);
  });
}

function faultsOfDirection(
  path: string,
  price: Readonly<Record<string, unknown>>,
): readonly PriceFault[] {
  const fields = Object.entries(FIELDS).flatMap(([name, { expected, allows }]) => {
    const isLeftOut = price[name] === undefined && Object.hasOwn(DEFAULTS, name);
    const isRight = isLeftOut || allows(price[name]);
    return isRight ? [] : [{ path: `${path}.${name}`, message: `expected ${expected}` }];
  });
  const unknown = Object.keys(price).filter((name) => !Object.hasOwn(FIELDS, name));
  return [
    ...fields,
    ...unknown.map((name) => ({ path: `${path}.${name}`, message: 'unknown field' })),
  ];
}

/** The price of a trunk with the defaults of its fields; a direction that is left out is unknown. */
export function trunkPriceOf({ inbound = null, outbound = null }: PriceSettings): TrunkPrice {
  return {
    inbound: inbound && { ...DEFAULTS, ...inbound },
    outbound: outbound && { ...DEFAULTS, ...outbound },
  };
}
