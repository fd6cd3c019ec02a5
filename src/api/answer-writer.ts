/** Writes answers to Node's responses. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ApiAnswer } from './api-answer.ts';

/** @throws {TypeError} when a header cannot be written; then nothing has been. */
export function writeAnswer(outgoing: ServerResponse, { status, headers, body }: ApiAnswer): void {
  outgoing.writeHead(status, headers);
  if (body instanceof ReadableStream) void pour(body, outgoing);
  else if (body === null) outgoing.end();
  else outgoing.end(body);
}

/** As fast as the client reads. When the client goes away the stream is cancelled; when the stream fails, so does the answer. */
async function pour(stream: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const reader = stream.getReader();
  // A stream that cannot be cancelled has failed or ended already.
  const cancel = () => void reader.cancel().catch(() => undefined);
  if (outgoing.destroyed) return cancel();
  outgoing.once('close', cancel);
  outgoing.flushHeaders();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      if (outgoing.destroyed) return;
      if (!outgoing.write(piece.value)) await drained(outgoing);
    }
    outgoing.end();
  } catch {
    // What is left of it cannot be sent, and an end would pass for the whole.
    outgoing.destroy();
  }
}

/** Until more can be written, or nobody reads any more. */
async function drained(outgoing: ServerResponse): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(outgoing, 'drain', { signal }), once(outgoing, 'close', { signal })]);
  over.abort();
}
