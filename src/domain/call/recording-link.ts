/** Signed links to recordings: they need no key, expire, and cannot be forged without the secret; pure */
import { createHmac } from 'node:crypto';
import { normalize } from 'node:path';
import { isSameSecret } from '../../lib/secrets.ts';
import { ServiceError } from '../service-error.ts';

/** The folder of recordings inside the data folder. */
export const RECORDINGS = 'recordings';

/** Whether a path below the data folder leads into the folder of recordings: records may come from anywhere. */
export function isRecordingPath(file: string): boolean {
  return normalize(file).startsWith(`${RECORDINGS}/`);
}

/** How long a link works unless said otherwise: a day. */
export const LINK_LIFETIME_MS = 86_400_000;

/** The two query parameters of a link, as they stand in the URL. */
interface LinkProof {
  /** Unix seconds. */
  readonly expires: string;
  /** HMAC-SHA256, lowercase hexadecimal. */
  readonly signature: string;
}

/** Signs a link: its bearer may download the recording until `expiresAt`. */
export function signRecordingLink(callId: string, expiresAt: Date, secret: string): LinkProof {
  const expires = String(Math.floor(expiresAt.getTime() / 1000));
  return { expires, signature: signatureOf(callId, expires, secret) };
}

/**
 * Makes the whole link to a call's recording.
 *
 * @param options.publicUrl The server's address as customers reach it, without a slash at its end.
 */
export function recordingLink(
  callId: string,
  options: { readonly publicUrl: string; readonly secret: string; readonly expiresAt: Date },
): string {
  const { publicUrl, secret, expiresAt } = options;
  // Digits and hexadecimal need no escaping.
  const { expires, signature } = signRecordingLink(callId, expiresAt, secret);
  return `${publicUrl}/api/calls/${callId}/recording?expires=${expires}&signature=${signature}`;
}

/** @throws {ServiceError} FORBIDDEN when the link was changed or has expired. */
export function checkRecordingLink(
  callId: string,
  proof: LinkProof,
  { secret, now }: { readonly secret: string; readonly now: Date },
): void {
  if (!isSameSecret(proof.signature, signatureOf(callId, proof.expires, secret))) {
    throw new ServiceError('FORBIDDEN', 'Cannot open the recording: the link is not genuine');
  }
  if (isPast(proof.expires, now)) {
    throw new ServiceError('FORBIDDEN', 'Cannot open the recording: the link has expired');
  }
}

/** Whether `checkRecordingLink` lets the link through. */
export function opensRecording(
  callId: string,
  { expires, signature }: LinkProof,
  { secret, now }: { readonly secret: string; readonly now: Date },
): boolean {
  const isGenuine = isSameSecret(signature, signatureOf(callId, expires, secret));
  return isGenuine && !isPast(expires, now);
}

function isPast(expires: string, now: Date): boolean {
  return Number(expires) * 1000 <= now.getTime();
}

function signatureOf(callId: string, expires: string, secret: string): string {
  return createHmac('sha256', secret).update(`recording\n${callId}\n${expires}`).digest('hex');
}

/** Number of stretches that peaks are given for. */
export const PEAK_POINTS = { default: 1000, max: 5000 } as const;

/** The loudest sample of each stretch of the recording; all stretches are equally long. */
interface RecordingPeaks {
  readonly durationMs: number;
  /** From 0 to 1, with two decimals. */
  readonly caller: readonly number[];
  readonly agent: readonly number[];
}

/**
 * Reads the peaks of a recording in small steps that leave the thread free.
 *
 * @param points number of stretches; a recording with fewer samples has one for each sample.
 * @param signal aborts the reading, because the client is gone.
 * @returns `busy` while too many recordings are being read, `none` when the file is no recording of a call.
 * @throws {Error} of the file system.
 */
export type ReadPeaks = (
  file: string,
  points: number,
  signal: AbortSignal,
) => Promise<RecordingPeaks | 'busy' | 'none'>;
