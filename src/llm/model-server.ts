/** What adapters of model servers have in common: plain words for a server that is not there or refuses. */
import { LanguageModelError } from './language-model.ts';

/** How long a server may take to say that it is there. */
export const CHECK_TIMEOUT_MS = 2000;

/** Room for the newest part of a call and the answer: what a model of 4 billion weights holds beside others on 16 GB. */
export const DEFAULT_CONTEXT_TOKENS = 8192;

/** Longest part of a server's error text that is passed on. */
const ERROR_LENGTH_MAX = 300;

/**
 * Asks a model server something, with the errors of connecting and refusing in words an operator can act on.
 *
 * @throws {LanguageModelError}
 * @throws the signal's reason when aborted.
 */
export async function fetchFromServer(
  server: string,
  url: string | URL | Request,
  init: RequestInit,
): Promise<Response> {
  const response = await connect(server, url, init);
  if (response.ok) return response;
  const text = (await response.text().catch(() => '')).slice(0, ERROR_LENGTH_MAX);
  throw new LanguageModelError(`Cannot use ${server}: it answered ${response.status}`, {
    cause: new Error(text),
  });
}

async function connect(
  server: string,
  url: string | URL | Request,
  init: RequestInit,
): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new LanguageModelError(`Cannot reach ${server}: ${networkReason(error)}`, {
      cause: error,
    });
  }
}

/** `fetch` hides the reason of a failed connection in the error's cause. */
function networkReason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ENOTFOUND') return 'no such host';
  return code === '' ? 'the connection failed' : code;
}
