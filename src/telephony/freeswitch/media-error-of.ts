/** FreeSWITCH's refusals as errors of the port; pure */
import { MediaError } from '../media-gateway.ts';

/** FreeSWITCH's refusal as the port's own error. */
export function mediaErrorOf(cause: unknown): MediaError {
  const status = statusOf(cause);
  const why = cause instanceof Error ? cause.message : String(cause);
  const sipStatus = status === 488 || status === 415 ? 488 : 503;
  return new MediaError(`Cannot set up sound in FreeSWITCH: ${why}`, sipStatus, { cause });
}

/** SIP status behind an error of drachtio-srf; 0 where there was none. */
export function statusOf(error: unknown): number {
  const hasStatus = typeof error === 'object' && error !== null && 'status' in error;
  return hasStatus && typeof error.status === 'number' ? error.status : 0;
}
