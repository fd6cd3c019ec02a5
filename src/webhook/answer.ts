/** What came of one attempt, as the sender saw it; pure */

/** `http` is an answer other than 2xx; `refused` is an address that webhooks are not sent to. */
export type AnswerKind = 'ok' | 'http' | 'timeout' | 'network' | 'refused';

export interface Answer {
  readonly kind: AnswerKind;
  /** Null when there was no answer. */
  readonly statusCode: number | null;
  /** Why it failed, in plain English; null for `ok`. */
  readonly error: string | null;
  /** The beginning of the body; null when there was none. */
  readonly responseText: string | null;
}

/** Sends deliveries. */
export interface Sender {
  /**
   * Sends one delivery once. `onAnswer` is called once, never before `send` returns, and never after the attempt was
   * taken back.
   *
   * @returns takes the attempt back; safe to call twice, and after the answer.
   */
  send(delivery: SentDelivery, onAnswer: (answer: Answer) => void): () => void;
}

/** What a sender needs of a delivery. */
export interface SentDelivery {
  readonly eventId: string;
  readonly url: string;
  readonly body: string;
  readonly secret: string;
  readonly otherSecrets: readonly string[];
}

/** The answer that a status stands for: only 2xx counts as received. */
export function answerOfStatus(statusCode: number, responseText: string | null): Answer {
  const isSuccess = statusCode >= 200 && statusCode <= 299;
  return {
    kind: isSuccess ? 'ok' : 'http',
    statusCode,
    error: isSuccess ? null : `the receiver answered ${statusCode}${HINTS[statusCode] ?? ''}`,
    responseText,
  };
}

const HINTS: Readonly<Record<number, string>> = {
  301: '; redirects are not followed',
  302: '; redirects are not followed',
  303: '; redirects are not followed',
  307: '; redirects are not followed',
  308: '; redirects are not followed',
  410: ': it wants no more; delete or disable the endpoint if that is so',
};

export function timeoutAnswer(timeoutMs: number): Answer {
  const error = `no answer within ${timeoutMs / 1000} seconds`;
  return { kind: 'timeout', statusCode: null, error, responseText: null };
}

export function refusedAnswer(error: string): Answer {
  return { kind: 'refused', statusCode: null, error, responseText: null };
}

export function networkAnswer(error: string): Answer {
  return { kind: 'network', statusCode: null, error, responseText: null };
}
