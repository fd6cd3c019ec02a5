/** What the interface answers, before anybody writes it to a connection; pure */

export type AnswerBody = string | Uint8Array | ReadableStream<Uint8Array> | null;

export interface ApiAnswer<Status extends number = number> {
  readonly status: Status;
  /** Name, value, name, value and so on. A name comes twice only where both count, such as `Set-Cookie`. */
  readonly headers: string[];
  readonly body: AnswerBody;
}

/** An answer whose body is the JSON of a `Body`. */
export interface JsonAnswer<Body, Status extends number> extends ApiAnswer<Status> {
  /** Never there: it tells the compiler what was written. */
  readonly json?: Body;
}
