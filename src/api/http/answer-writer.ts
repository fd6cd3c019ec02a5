/** Writes answers to Node's responses. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../lib/clock.ts';
import { type Logger, silentLogger } from '../../lib/logger.ts';
import type { ApiAnswer } from './api-answer.ts';

/** How long a client may go on sending what nobody reads, once it has its answer. */
const UNREAD_MS = 500;

/** How long a client may take nothing of what waits for it. */
const STALLED_MS = 30_000;

/**
 * @param parts.stalledMs how long a client may take nothing; 30 s unless given.
 * @throws {TypeError} when a header cannot be written; then nothing has been.
 */
export function writeAnswer(
  outgoing: ServerResponse,
  { status, headers, body }: ApiAnswer,
  parts: {
    readonly clock: Clock;
    readonly log?: Logger | undefined;
    readonly stalledMs?: number | undefined;
  },
): void {
  const { clock, log = silentLogger, stalledMs = STALLED_MS } = parts;
  const isUnread = hasUnread(outgoing.req);
  // Who waits to be asked for a body may never send it: what came next could be either.
  if (isUnread && outgoing.req.headers.expect !== undefined) outgoing.shouldKeepAlive = false;
  outgoing.writeHead(status, headers);
  if (body instanceof ReadableStream) {
    if (isUnread) forgetUnread(outgoing.req, clock, () => undefined);
    void pour(body, outgoing, log);
  } else if (isUnread) endWhenRead(outgoing, body, clock);
  else if (body === null) outgoing.end();
  else outgoing.end(body);
  // Nearly always the kernel has taken it all by now.
  if (outgoing.writableLength > 0 || !outgoing.writableEnded) hangUpOnStall(outgoing, stalledMs);
}

/**
 * Hangs up on a client that takes nothing: it would keep its connection, and the stream with its file, for ever. Node's own
 * timer, because Node alone sees whether a slow client has taken some. It rings as well when there is nothing to take.
 */
function hangUpOnStall(outgoing: ServerResponse, stalledMs: number): void {
  outgoing.setTimeout(stalledMs, () => {
    if (outgoing.writableLength > 0) outgoing.destroy();
  });
  // Node would leave the timer to the next answer on the connection, which may take longer to begin. Goes before Node's own listener.
  outgoing.prependOnceListener('finish', () => outgoing.setTimeout(0));
}

/** Whether some of the request's body may still come. */
function hasUnread(incoming: IncomingMessage): boolean {
  if (incoming.readableEnded || incoming.destroyed) return false;
  const { 'content-length': length, 'transfer-encoding': encoding } = incoming.headers;
  // Either says that there is a body, whatever the method. RFC 9112, 6.
  return length !== undefined || encoding !== undefined;
}

/**
 * Sends the whole answer at once, and ends it when nothing more comes: to hang up on a client that is still sending is to
 * take away the answer that it has not read yet.
 *
 * @see RFC 9112, 9.6
 */
function endWhenRead(
  outgoing: ServerResponse,
  body: string | Uint8Array | null,
  clock: Clock,
): void {
  if (body === null || body.length === 0) outgoing.flushHeaders();
  else outgoing.write(body);
  forgetUnread(outgoing.req, clock, () => void outgoing.end());
}

/** Reads the rest of a body and forgets it. Whoever goes on sending for too long is hung up on. */
function forgetUnread(incoming: IncomingMessage, clock: Clock, onOver: () => void): void {
  const cancel = clock.after(UNREAD_MS, () => {
    onOver();
    incoming.socket.destroySoon();
  });
  incoming.once('close', cancel);
  incoming.once('end', () => {
    cancel();
    onOver();
  });
  incoming.resume();
}

/** As fast as the client reads. When the client goes away the stream is cancelled; when the stream fails, so does the answer. */
async function pour(
  stream: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  log: Logger,
): Promise<void> {
  const reader = stream.getReader();
  // A stream that cannot be cancelled has failed or ended already.
  const cancel = () => void reader.cancel().catch(() => undefined);
  if (outgoing.destroyed) return cancel();
  outgoing.once('close', cancel);
  // Fewer bytes than were announced would be filled up with the next answer.
  outgoing.strictContentLength = true;
  outgoing.flushHeaders();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      if (outgoing.destroyed) return;
      if (!outgoing.write(piece.value)) await drained(outgoing);
    }
    if (!outgoing.destroyed) outgoing.end();
  } catch (error) {
    log.error({ err: error }, 'http: answer cut off');
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
