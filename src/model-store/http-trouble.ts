/** What a failed answer or connection means: worth another try, or not; pure */
import type { HttpAnswer } from './http-source.ts';
import { ModelsError } from './models-error.ts';
import { retryAfterMs } from './retry.ts';

/** Something that may be over when asked again. */
export class ServerTrouble extends Error {
  override readonly name = 'ServerTrouble';
  /** What the server asked for; null when it did not. */
  readonly retryAfterMs: number | null;

  constructor(
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterMs?: number | null } = {},
  ) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** What was asked for, in the operator's words. */
interface Asked {
  readonly label: string;
  readonly url: string;
  /** Whether only the rest of it was. */
  readonly isRest: boolean;
  readonly now: Date;
}

const MAY_PASS = new Set([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]);

const ADVICE: Readonly<Record<number, string>> = {
  401: 'set HF_TOKEN, or HF_TOKEN_FILE, to a token that may read it',
  403: 'set HF_TOKEN, or HF_TOKEN_FILE, to a token that may read it, and accept its terms on its page if it has any',
  404: 'it is not there; on a mirror, copy it to that place, and else see whether a newer Offhook has a newer list of models',
  407: 'the proxy between here and there wants a password',
  410: 'it was taken away; see whether a newer Offhook has a newer list of models',
  451: 'it may not be given to you where you are',
};

/** Why an answer cannot be used; null when it can. */
export function answerError(answer: HttpAnswer, asked: Asked): ModelsError | ServerTrouble | null {
  const { status, headers } = answer;
  if (MAY_PASS.has(status)) {
    return new ServerTrouble(`the server answered ${status}`, {
      retryAfterMs: retryAfterMs(headers['retry-after'], asked.now),
    });
  }
  // 416: there is nothing beyond what we have, which is no answer to whoever asks for all.
  if (status !== 200 && status !== 206 && !(status === 416 && asked.isRest)) {
    const advice = ADVICE[status] ?? 'try another source (MODELS_BASE_URL)';
    return refused(asked, `the server answered ${status}; ${advice}`);
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return null;
  return refused(asked, `the server packs it as "${encoding}" though that was not asked for`);
}

function refused({ label, url }: Asked, why: string): ModelsError {
  return new ModelsError('refused', `Cannot download "${label}" from "${url}": ${why}`);
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up just now',
  ECONNRESET: 'the connection was cut off',
  UND_ERR_SOCKET: 'the connection was cut off',
  UND_ERR_CONNECT_TIMEOUT: 'it cannot be reached',
  ETIMEDOUT: 'it cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EHOSTUNREACH: 'it cannot be reached',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is not signed by anybody we know (NODE_EXTRA_CA_CERTS names a file of your own)',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its certificate is not signed by anybody we know (NODE_EXTRA_CA_CERTS names a file of your own)',
};

/** An error of the network in the operator's words. */
export function networkError(error: unknown): ServerTrouble {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = error instanceof Error ? error.message : String(error);
  return new ServerTrouble(REASONS[code] ?? text, { cause: error });
}
