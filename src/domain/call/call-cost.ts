/** Carrier's price of a call, and the cost of a call that is over; pure */

/** Carrier's price for calls of one direction. Amounts have six decimals at most. */
export interface CallPrice {
  /** From 0 to 100. */
  readonly perMinute: number;
  /** ISO 4217, such as `EUR`. */
  readonly currency: string;
  /** Billed time is a multiple of it: a whole number from 1 to 60. */
  readonly incrementSeconds: number;
  /** Fee for each answered call, in addition to its time; 0 or more. */
  readonly connection: number;
}

/** Carrier's charge for one call. */
export interface CallCost {
  /** Millionths of the currency's unit: a whole number, so that sums of costs are exact. */
  readonly micros: number;
  /** ISO 4217. */
  readonly currency: string;
}

/** Decimals of an amount at most. */
export const AMOUNT_DECIMALS_MAX = 6;

const AMOUNT_DECIMALS_MIN = 4;

const MICROS = 10 ** AMOUNT_DECIMALS_MAX;

/**
 * Cost of an answered call: the connection, and its time rounded up to the increment. Half a millionth is rounded up.
 *
 * @param durationSeconds from the answer to the end, each started second counted.
 */
export function costOf(price: CallPrice, durationSeconds: number): CallCost {
  const { currency, incrementSeconds } = price;
  const billedSeconds = Math.ceil(durationSeconds / incrementSeconds) * incrementSeconds;
  // The product of both may have more digits than a number holds.
  const timeMicros = (BigInt(billedSeconds) * BigInt(microsOf(price.perMinute)) + 30n) / 60n;
  return { micros: microsOf(price.connection) + Number(timeMicros), currency };
}

/** The amount as decimal text with four to six decimals: `0.0240`, `0.000033`. */
export function amountOf({ micros }: Pick<CallCost, 'micros'>): string {
  const digits = String(micros).padStart(AMOUNT_DECIMALS_MAX + 1, '0');
  const decimals = digits.slice(-AMOUNT_DECIMALS_MAX);
  const shown = decimals.slice(AMOUNT_DECIMALS_MIN).replace(/0+$/, '');
  const whole = digits.slice(0, -AMOUNT_DECIMALS_MAX);
  return `${whole}.${decimals.slice(0, AMOUNT_DECIMALS_MIN)}${shown}`;
}

/** Whether a number has six decimals at most, so that it is a whole number of millionths. */
export function isAmount(value: number): boolean {
  return microsOf(value) / MICROS === value;
}

/** A decimal number is rarely exact in binary; its millionths are. */
function microsOf(amount: number): number {
  return Math.round(amount * MICROS);
}
