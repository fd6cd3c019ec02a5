/** Decides what a file's bytes are compared with, and who vouches for it; pure */
import type { ExpectedSum } from './file-sum.ts';
import type { HttpAnswer } from './http-source.ts';
import { ModelsError } from './models-error.ts';

/** Who vouches: the list of models or an earlier download; the server, this first time; nobody. */
export type Trust = 'known' | 'server' | 'nobody';

export interface TrustedSum {
  readonly expected: ExpectedSum | null;
  readonly trust: Trust;
}

/**
 * What an answer's body has to add up to.
 *
 * @throws {ModelsError} `wrong-content` when the server has something else, `unverified` when nobody says.
 */
export function trustedSumOf(
  answer: Pick<HttpAnswer, 'declared' | 'commit'>,
  job: {
    readonly label: string;
    readonly revision: string;
    readonly expected: ExpectedSum | null;
    readonly allowUnverified: boolean;
  },
): TrustedSum {
  const { declared, commit } = answer;
  const { label, revision, expected } = job;
  if (commit !== null && /^[0-9a-f]{40}$/.test(revision) && commit !== revision) {
    throw new ModelsError(
      'wrong-content',
      `Cannot download "${label}": revision ${revision} was asked for, and the server answers for ${commit}`,
    );
  }
  if (expected !== null) {
    refuseOtherSum(label, declared, expected);
    return { expected, trust: 'known' };
  }
  if (declared !== null) return { expected: declared, trust: 'server' };
  if (job.allowUnverified) return { expected: null, trust: 'nobody' };
  throw new ModelsError(
    'unverified',
    `Cannot download "${label}": neither the list of models nor the server says what its checksum is; --allow-unverified takes it all the same, and keeps its checksum for the next time`,
  );
}

/** Says so before a gigabyte has come in vain. */
function refuseOtherSum(label: string, declared: ExpectedSum | null, expected: ExpectedSum): void {
  if (declared?.algorithm !== 'sha256' || expected.algorithm !== 'sha256') return;
  if (declared.hex === expected.hex) return;
  throw new ModelsError(
    'wrong-content',
    `Cannot download "${label}": the server has a file with SHA-256 ${declared.hex}, and ${expected.hex} was promised; try another source (MODELS_BASE_URL), and ask its keeper what happened`,
  );
}

/** Where the bytes of a 206 begin; -1 when it does not say. @see RFC 9110, 14.4 */
export function rangeStartOf({ headers }: Pick<HttpAnswer, 'headers'>): number {
  const start = /^bytes (\d{1,15})-\d{1,15}\/(?:\d{1,15}|\*)$/.exec(
    headers['content-range'] ?? '',
  )?.[1];
  return start === undefined ? -1 : Number(start);
}

/** How long the whole file is, as the answer says; null when it does not. */
export function totalOf({
  status,
  headers,
}: Pick<HttpAnswer, 'status' | 'headers'>): number | null {
  const text =
    status === 206
      ? /\/(\d{1,15})$/.exec(headers['content-range'] ?? '')?.[1]
      : headers['content-length'];
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** The server's name for this version of the file, if it can be used with `If-Range`. @see RFC 9110, 13.1.5 */
export function validatorOf({ headers }: Pick<HttpAnswer, 'headers'>): string | null {
  const { etag } = headers;
  if (etag !== undefined && /^"[\x21\x23-\x7e]*"$/.test(etag)) return etag;
  return headers['last-modified'] ?? null;
}
