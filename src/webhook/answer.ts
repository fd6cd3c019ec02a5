/** Result of one delivery attempt: HTTP answer with the headers that its record keeps, time-out, network error or refused address; pure */
import type { KeptHeader } from '../domain/webhook/webhook-delivery.ts';

/** `http` is an answer other than 2xx; `refused` is an address that webhooks are not sent to. */
export type AnswerKind = 'ok' | 'http' | 'timeout' | 'network' | 'refused';

/** Result of one attempt. */
export interface Answer {
  readonly kind: AnswerKind;
  /** Null when there was no answer. */
  readonly statusCode: number | null;
  /** Why it failed, in plain English; null for `ok`. */
  readonly error: string | null;
  /** The beginning of the body; null when there was none. */
  readonly responseText: string | null;
  /** Null when there was no answer. */
  readonly responseHeaders: readonly KeptHeader[] | null;
  /** Null when no request was sent. */
  readonly requestHeaders: readonly KeptHeader[] | null;
}

/** Sends deliveries. */
export interface Sender {
  /** Makes one attempt. Never rejects. @param signal cancels it; the result has no meaning then. */
  send(delivery: SentDelivery, signal: AbortSignal): Promise<Answer>;
}

/** The parts of a delivery that a sender needs. */
export interface SentDelivery {
  readonly eventId: string;
  readonly url: string;
  readonly body: string;
  readonly secret: string;
  readonly otherSecrets: readonly string[];
}

const NOTHING_READ = { responseText: null, responseHeaders: null } as const;

/** Fields of an attempt without an answer. */
const NO_ANSWER = { ...NOTHING_READ, statusCode: null, requestHeaders: null } as const;

/** The answer for an HTTP status: only 2xx counts as received. */
export function answerOfStatus(
  statusCode: number,
  response: Pick<Answer, 'responseText' | 'responseHeaders'> = NOTHING_READ,
): Answer {
  const isSuccess = statusCode >= 200 && statusCode <= 299;
  return {
    kind: isSuccess ? 'ok' : 'http',
    statusCode,
    error: isSuccess ? null : `the receiver answered ${statusCode}${HINTS[statusCode] ?? ''}`,
    ...response,
    requestHeaders: null,
  };
}

const HINTS: Readonly<Record<number, string>> = {
  301: '; redirects are not followed',
  302: '; redirects are not followed',
  303: '; redirects are not followed',
  307: '; redirects are not followed',
  308: '; redirects are not followed',
  410: ': it wants no more events; delete or disable the endpoint if that is so',
};

/** The answer when the receiver did not answer in time. */
export function timeoutAnswer(timeoutMs: number): Answer {
  const error = `no answer within ${timeoutMs / 1000} seconds`;
  return { ...NO_ANSWER, kind: 'timeout', error };
}

/** The answer when the address is not allowed. @param error Why. */
export function refusedAnswer(error: string): Answer {
  return { ...NO_ANSWER, kind: 'refused', error };
}

function networkAnswer(error: string): Answer {
  return { ...NO_ANSWER, kind: 'network', error };
}

/** An address that webhooks are not sent to. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens at its port',
  ECONNRESET: 'the receiver reset the connection',
  EPIPE: 'the receiver reset the connection',
  UND_ERR_SOCKET: 'the receiver closed the connection before it answered',
  ENOTFOUND: 'host name not found',
  ENODATA: 'its name has no address',
  EAI_AGAIN: 'its name could not be looked up',
  ETIMEOUT: 'its name could not be looked up in time',
  ESERVFAIL: 'its name could not be looked up',
  EHOSTUNREACH: 'there is no route to its host',
  ENETUNREACH: 'there is no route to its network',
  ETIMEDOUT: 'its host did not answer',
  UND_ERR_CONNECT_TIMEOUT: 'its host did not answer',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too long',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes without those that vouch for it',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'its port does not speak TLS',
};

/** The answer for an error of the connection: in plain English, without the error's own text, which may hold secrets. */
export function answerOfError(error: Error): Answer {
  const causes = causesOf(error);
  const refused = causes.find((cause) => cause instanceof AddressRefusedError);
  if (refused !== undefined) return refusedAnswer(refused.message);
  const codes = causes.map(codeOf).filter((code) => code !== '');
  const known = codes.find((code) => code in REASONS);
  if (known !== undefined) return networkAnswer(`${REASONS[known]} (${known})`);
  const code = codes[0] ?? error.name;
  const isNotHttp = causes.some(({ name }) => name === 'HTTPParserError');
  if (isNotHttp || codes.some((each) => each.startsWith('HPE_'))) {
    return networkAnswer(`the answer is not HTTP (${code})`);
  }
  return networkAnswer(`the connection failed (${code})`);
}

const CAUSES_MAX = 8;

/** The error, its causes, and the parts of an aggregate; causes first, because their codes say more than those of wrappers. */
function causesOf(error: Error): readonly Error[] {
  const found: Error[] = [];
  const visit = (one: unknown) => {
    if (!(one instanceof Error) || found.length >= CAUSES_MAX || found.includes(one)) return;
    found.unshift(one);
    visit(one.cause);
    if (one instanceof AggregateError) for (const part of one.errors) visit(part);
  };
  visit(error);
  return found;
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Headers that are stored; further ones say little about a receiver. */
const HEADERS_MAX = 40;
const VALUE_CHARS_MAX = 500;
const NAME_CHARS_MAX = 100;

/** Headers that may hold a receiver's secrets. */
const SECRET =
  /^(set-cookie2?|(proxy-)?authenticat(e|ion-info)|(proxy-)?authorization|www-authenticate)$/i;

const LEFT_OUT = '(left out)';

/** @param headers as undici gives or takes them; a header may have several values. */
export function keptHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): readonly KeptHeader[] {
  return Object.entries(headers)
    .flatMap(([name, values]) => [values ?? []].flat().map((value) => headerOf(name, value)))
    .slice(0, HEADERS_MAX);
}

function headerOf(name: string, value: string): KeptHeader {
  const kept = SECRET.test(name) ? LEFT_OUT : printable(value).slice(0, VALUE_CHARS_MAX);
  return { name: printable(name).slice(0, NAME_CHARS_MAX), value: kept };
}

/** HTTP allows bytes in values that no text has. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '\uFFFD').toWellFormed();
}
