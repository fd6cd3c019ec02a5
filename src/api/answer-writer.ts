/** Writes answers to Node's responses. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Clock } from '../lib/clock.ts';
import type { ApiAnswer } from './api-answer.ts';

/** How long a client may go on sending what nobody reads, once it has its answer. */
const UNREAD_MS = 500;

/** @throws {TypeError} when a header cannot be written; then nothing has been. */
export function writeAnswer(
  outgoing: ServerResponse,
  { status, headers, body }: ApiAnswer,
  clock: Clock,
): void {
  outgoing.writeHead(status, headers);
  limitUnread(outgoing, clock);
  if (body instanceof ReadableStream) void pour(body, outgoing);
  else if (body === null) outgoing.end();
  else outgoing.end(body);
}

/** Node reads and forgets what is left of a body, for as long as the client likes to send it. */
function limitUnread(outgoing: ServerResponse, clock: Clock): void {
  const incoming = outgoing.req;
  const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
  if (!hasBody || incoming.readableEnded) return;
  outgoing.once('finish', () => {
    if (incoming.complete) return;
    const cancel = clock.after(UNREAD_MS, () => incoming.socket.destroySoon());
    incoming.once('end', cancel);
    incoming.once('close', cancel);
  });
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
