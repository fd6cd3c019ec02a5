/** Takes in one HTTP answer from undici: its status, and the beginning of its body. */
import type { Dispatcher } from 'undici';
import { type Answer, answerOfStatus, timeoutAnswer } from './answer.ts';
import { answerOfError } from './network-error.ts';

/** More of a body is not read: the connection is closed instead. */
const READ_BYTES_MAX = 65_536;

const KEPT_BYTES_MAX = 2048;

/** Reads one answer and gives it to `onAnswer`, once. */
export class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #onAnswer: (answer: Answer) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #statusCode: number | null = null;
  #kept: Buffer[] = [];
  #readBytes = 0;
  #isOver = false;

  constructor(onAnswer: (answer: Answer) => void) {
    this.#onAnswer = onAnswer;
  }

  /** The status decides when there is one; a body that does not end changes nothing. */
  timeOut(timeoutMs: number): void {
    this.#end(this.#answerSoFar ?? timeoutAnswer(timeoutMs));
    this.#abort();
  }

  /** Ends the request; no answer is given any more. */
  abandon(): void {
    this.#isOver = true;
    this.#abort();
  }

  /** A request that waited for its connection may start when nobody waits for it any more: it is not sent then. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) this.#abort();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    if (statusCode >= 200) this.#statusCode = statusCode;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = KEPT_BYTES_MAX - this.#readBytes;
    if (room > 0) this.#kept.push(Buffer.from(chunk.subarray(0, room)));
    this.#readBytes += chunk.length;
    if (this.#readBytes > READ_BYTES_MAX) this.#abort();
  }

  onResponseEnd(): void {
    this.#endSoFar();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#endSoFar(error);
  }

  get #answerSoFar(): Answer | undefined {
    if (this.#statusCode === null) return undefined;
    return answerOfStatus(this.#statusCode, textOf(this.#kept));
  }

  /** @param error why there is no more, where something failed. */
  #endSoFar(error?: Error): void {
    this.#end(this.#answerSoFar ?? answerOfError(error ?? new Error('an answer without status')));
  }

  #end(answer: Answer): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onAnswer(answer);
  }

  #abort(): void {
    this.#controller?.abort(new Error('the attempt is over'));
  }
}

/** Bytes that are no UTF-8, such as of a compressed body, become question marks; NUL would end the text in other tools. */
function textOf(chunks: readonly Buffer[]): string | null {
  if (chunks.length === 0) return null;
  return Buffer.concat(chunks).toString('utf8').replaceAll('\0', '\uFFFD');
}
