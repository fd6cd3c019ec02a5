/** Reads the Server-Sent Events of an answer. */
import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** Time without data after which the stream is dead: comments come every 15 s. */
const SILENT_MS_MAX = 45_000;

/** What is longer than this is no event of ours. */
const BUFFER_CHARS_MAX = 4_000_000;

/** An event of the stream as it came. */
export type SseEvent = Pick<EventSourceMessage, 'event' | 'data'>;

/** Resolves when the stream has ended, has been silent for too long, or `signal` is aborted. Rejects when the connection breaks. */
export async function readEvents(
  response: Response,
  onEvent: (event: SseEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  const parser = createParser({ onEvent, maxBufferSize: BUFFER_CHARS_MAX });
  while (!signal.aborted) {
    const timer = setTimeout(() => void reader.cancel(), SILENT_MS_MAX);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    parser.feed(value);
  }
  await reader.cancel();
}
