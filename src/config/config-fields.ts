/** Kinds of settings, each with what is expected where it is wrong; pure */
import { isIP } from 'node:net';
import { z } from 'zod';
import {
  ADVERTISED_ADDRESS_EXPECTED,
  isAdvertisable,
} from '../telephony/trunks/advertised-address.ts';

/** Digits alone, both bounds included: `Number` takes `0x10`, `1e3` and a space as well. */
export function wholeNumber(min: number, max: number) {
  const message = `expected a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message);
}

/** A port, or 0 for a free one. */
export const port = wholeNumber(0, 65_535);

const ABOVE_ZERO = 'expected a number above 0';

/** Above 0, with a fraction or without. */
export const positive = z.coerce.number(ABOVE_ZERO).positive(ABOVE_ZERO);

/** An IP address, or a name: four numbers with dots between them are an address, or nothing. */
export const host = z
  .string()
  .refine(
    (text) => isIP(text) !== 0 || (/^[A-Za-z0-9.-]{1,253}$/.test(text) && !/^[\d.]+$/.test(text)),
    'expected an IP address or a host name',
  );

/** An address of this machine, or the wildcard: what a socket of SIP is bound to is written in SIP and SDP as well. */
export const ownAddress = z
  .string()
  .refine((text) => isIP(text) !== 0, 'expected an IP address of this machine, or 0.0.0.0');

/** What far ends are told: an IPv4 address that they can send to, or a name that has one. */
export const advertisedAddress = z.string().refine(isAdvertisable, ADVERTISED_ADDRESS_EXPECTED);

/** The base of a web server's addresses; what is appended would be lost behind a query. */
export const baseUrl = z
  .url({ protocol: /^https?$/, error: 'expected an address such as https://voice.example' })
  .refine((text) => !/[?#]/.test(text), 'expected an address without ? and #')
  // Addresses are shown, in the log and at /readyz.
  .refine((text) => !text.includes('@'), 'expected no password');
