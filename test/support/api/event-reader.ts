/** Reads Server-Sent Events one by one. */

/** As far as our server writes them: one line of data an event. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = '';

  constructor(response: Response) {
    if (response.body === null) throw new Error(`There is no body, status ${response.status}`);
    this.#reader = response.body.getReader();
  }

  /** The next event; comments and times to wait are passed over. */
  async next(): Promise<{ readonly event: string; readonly data: unknown }> {
    for (;;) {
      const fields = /^event: (.*)\ndata: (.*)$/.exec(await this.nextText());
      if (fields !== null) return { event: fields[1] ?? '', data: JSON.parse(fields[2] ?? '') };
    }
  }

  /** The next block of lines as it came, save the first one that only says when to come again. */
  async nextText(): Promise<string> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        if (!block.startsWith('retry:')) return block;
        continue;
      }
      const { done, value } = await this.#reader.read();
      if (done) throw new Error('The stream is over');
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  /** Reads the rest. @returns true when the stream ended. */
  async isOver(): Promise<boolean> {
    for (;;) if ((await this.#reader.read()).done) return true;
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}

/** The text of an answer; of a stream, which never ends, only what comes first. */
export async function textOf(response: Response): Promise<string> {
  if (response.headers.get('Content-Type') !== 'text/event-stream') return response.text();
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return new TextDecoder().decode(first?.value);
}
