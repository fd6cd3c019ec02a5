/** Reads bodies of answers. */
import { InvalidResponseError } from './errors.ts';

/** Longest body of an error that is read. */
export const ERROR_BYTES_MAX = 1024 * 1024;

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;

/** @throws {InvalidResponseError} when it is longer than `sizeBytesMax`. */
export async function readText(response: Response, sizeBytesMax: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let sizeBytes = 0;
  for await (const chunk of piecesOf(response)) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > sizeBytesMax) {
      throw new InvalidResponseError(
        `Cannot read the answer: it is over ${sizeBytesMax} bytes long`,
        { status: response.status },
      );
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** @throws {InvalidResponseError} when it is no JSON. */
export async function readJson(response: Response, sizeBytesMax: number): Promise<unknown> {
  requireType(response, JSON_TYPE);
  const text = await readText(response, sizeBytesMax);
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = 'Cannot read the answer: it is no well-formed JSON';
    throw new InvalidResponseError(message, { status: response.status, cause: error });
  }
}

/** @throws {InvalidResponseError} when the answer has another content type. */
export function requireType(response: Response, expected: RegExp): void {
  const found = response.headers.get('content-type') ?? '';
  if (expected.test(found)) return;
  throw new InvalidResponseError(
    `Cannot read the answer: its content type is "${found.slice(0, 100)}"`,
    { status: response.status },
  );
}

/** The pieces of a body as they come; leaving the loop early ends the connection. */
export async function* piecesOf(response: Response): AsyncGenerator<Uint8Array> {
  // Not every browser can iterate over a stream.
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {
      // Already cut: the loop has thrown that error.
    });
  }
}
