/** Files, and sound that goes on. */
import type { Opened } from './attempt.ts';
import { piecesOf, requireType } from './body.ts';

/** What is being downloaded. It can be read once: whole, piece by piece with `for await`, or as a stream. */
export class Download implements AsyncIterable<Uint8Array> {
  readonly contentType: string;
  /** Null where the server does not say it, as for the sound of a call in progress. */
  readonly sizeBytes: number | null;
  readonly #opened: Opened;

  constructor(opened: Opened) {
    const { headers } = opened.response;
    const size = headers.get('content-length');
    this.#opened = opened;
    this.contentType = headers.get('content-type') ?? '';
    this.sizeBytes = size === null ? null : Number(size);
  }

  /** Leaving the loop early ends the download. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const { response, attempt } = this.#opened;
    const pieces = piecesOf(response);
    try {
      for (;;) {
        // The time limit is for the server: it does not run while the caller works on a piece.
        attempt.restart();
        const { done, value } = await pieces.next();
        attempt.stop();
        if (done === true) return;
        yield value;
      }
    } catch (error) {
      throw attempt.failure(error);
    } finally {
      attempt.stop();
      await pieces.return(undefined);
    }
  }

  /** The pieces as a web stream, such as for `Response` or Node's `writeFile`. */
  stream(): ReadableStream<Uint8Array> {
    const pieces = this[Symbol.asyncIterator]();
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await pieces.return(undefined);
      },
    });
  }

  /** The whole, in memory. */
  async bytes(): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this) pieces.push(piece);
    const whole = new Uint8Array(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0));
    let offset = 0;
    for (const piece of pieces) {
      whole.set(piece, offset);
      offset += piece.byteLength;
    }
    return whole;
  }

  /** Ends the download. Safe to call twice, and not needed after its end. */
  async cancel(): Promise<void> {
    this.#opened.attempt.stop();
    await this.#opened.response.body?.cancel();
  }
}

/** @throws {InvalidResponseError} when the answer has another content type. */
export async function openDownload(opened: Opened, contentType: string): Promise<Download> {
  requireType(opened.response, new RegExp(`^${contentType.replaceAll(/[.+/]/g, '\\$&')}\\b`, 'i'));
  return new Download(opened);
}
