/** Why a call was not answered, in sentences for customers; pure */
import type { Failure } from '../../domain/call/call-life.ts';
import { CarrierError } from '../../telephony/carrier.ts';

const NOBODY = 'Nobody answered';
const BUSY = 'The called number is busy, or refused the call';
const CREDENTIALS = 'The carrier does not let us call: check the user name, password and numbers';
const UNKNOWN = 'The carrier does not know the called number';
const CODECS = 'The far end accepts none of the codecs';

/** By the final status of our INVITE. RFC 3261, 21. */
const REFUSALS: Readonly<Record<number, string>> = {
  401: CREDENTIALS,
  403: CREDENTIALS,
  407: CREDENTIALS,
  404: UNKNOWN,
  410: UNKNOWN,
  484: UNKNOWN,
  604: UNKNOWN,
  408: NOBODY,
  480: NOBODY,
  487: NOBODY,
  486: BUSY,
  600: BUSY,
  603: BUSY,
  488: CODECS,
  606: CODECS,
};

/** @param error what the carrier threw instead of an answered call. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof CarrierError)) return failureBecause('The server failed.');
  const { refusedWith: sipStatus, message } = error;
  if (sipStatus === null) return failureBecause(`${message}.`);
  const why =
    REFUSALS[sipStatus] ??
    (sipStatus >= 500
      ? 'The carrier could not put the call through'
      : 'The carrier refused the call');
  return { reason: `${why} (SIP ${sipStatus}).`, sipStatus };
}

/** An incoming call that was cancelled, or whose caller never confirmed our answer. */
export const CALLER_GAVE_UP: Failure = failureBecause('The caller gave up.');

/** A failure in which SIP has no part. */
export function failureBecause(reason: string): Failure {
  return { reason, sipStatus: null };
}
