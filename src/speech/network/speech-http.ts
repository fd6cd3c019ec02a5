/** HTTP requests to speech servers with OpenAI's audio interface: addresses, limits, and faults in plain words. */
import { readAtMost } from '../../lib/bounded-body.ts';

/** Longest part of a server's error text that is passed on. */
const FAULT_CHARACTERS_MAX = 200;

/** A transcript with its times is some kilobytes; a server that sends more is broken. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;

/** How to reach one server. */
export interface HttpServerOptions {
  readonly model: string;
  readonly apiKey?: string | undefined;
}

/** The server answered with an error status. */
export class HttpStatusError extends Error {
  override readonly name = 'HttpStatusError';
  readonly status: number;

  constructor(status: number, text: string) {
    super(text === '' ? `it answered ${status}` : `it answered ${status}: ${text}`);
    this.status = status;
  }
}

/**
 * The address of an operation: `http://host:8000` and `http://host:8000/v1` both mean `http://host:8000/v1/…`.
 *
 * @param path such as `audio/speech`.
 */
export function operationUrl(address: string, path: string): string {
  const base = address.replace(/\/+$/, '');
  return /\/v\d+$/.test(base) ? `${base}/${path}` : `${base}/v1/${path}`;
}

/**
 * Sends a request.
 *
 * @throws {HttpStatusError} for any status but 200 to 299.
 * @throws {Error} when the server cannot be reached.
 * @throws the signal's reason when aborted.
 */
export async function request(
  url: string,
  { apiKey, ...init }: RequestInit & Pick<HttpServerOptions, 'apiKey'>,
): Promise<Response> {
  const headers = new Headers(init.headers);
  if (apiKey !== undefined) headers.set('authorization', `Bearer ${apiKey}`);
  const response = await reach(url, { ...init, headers });
  if (response.ok) return response;
  const text = await limitedText(response).catch(() => '');
  init.signal?.throwIfAborted();
  throw new HttpStatusError(response.status, faultIn(text));
}

/** Reads a body of JSON. @throws {Error} when it is too long or no JSON. */
export async function limitedJson(response: Response): Promise<unknown> {
  const text = await limitedText(response);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error('it answered with no JSON', { cause: error });
  }
}

async function limitedText(response: Response): Promise<string> {
  const { text, isWhole } = await readAtMost(response.body ?? [], BODY_BYTES_MAX);
  if (!isWhole) throw new Error('its answer is too long');
  return text;
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new Error(connectionFault(error), { cause: error });
  }
}

/** The fault of a connection in plain words; `fetch` hides it in the error's cause. */
export function connectionFault(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ENOTFOUND') return 'no such host';
  return code === '' ? 'the connection failed' : `the connection failed (${code})`;
}

/** The message in an error body: OpenAI's `error.message`, FastAPI's `detail`; else the text itself. */
function faultIn(text: string): string {
  let message = text;
  try {
    const { error, detail, message: own } = JSON.parse(text) as Record<string, unknown>;
    const found = [error, detail, own].map((part) =>
      typeof part === 'object' && part !== null && 'message' in part ? part.message : part,
    );
    message = String(found.find((part) => typeof part === 'string') ?? text);
  } catch {
    // Not JSON: a proxy's page, for example.
  }
  return shortFault(message);
}

/** One line of a server's own error text, cut. */
export function shortFault(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, FAULT_CHARACTERS_MAX);
}
