/** Reads the data of Server-Sent Events off a stream of bytes. @see WHATWG HTML, section 9.2.6 */

/** An event is one token and its wrapping; nothing longer is believed. */
const EVENT_LENGTH_MAX = 1_000_000;

/**
 * Yields the `data` of each event. Comments and other fields are skipped.
 *
 * @throws {RangeError} when an event does not end.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    if (rest.length > EVENT_LENGTH_MAX) throw new RangeError('Cannot read event: it does not end');
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
      if (line !== '' || data.length === 0) continue;
      yield data.join('\n');
      data = [];
    }
  }
  if (rest.startsWith('data:')) data.push(rest.slice(5).trim());
  if (data.length > 0) yield data.join('\n');
}
