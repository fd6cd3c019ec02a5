/** What the interface asks of a request, however it came. */

export interface ApiRequest {
  readonly method: string;
  /** Host and port that were asked for, such as `voice.example:8443`. */
  readonly host: string;
  /** Decoded, but for what would read as another path. */
  readonly path: string;
  /** What stands after the question mark, as it was sent; empty without one. */
  readonly queryText: string;
  /** Of the socket's other end; undefined when it is already gone. */
  readonly remoteAddress: string | undefined;
  /** Aborted when the client goes away before it has the whole answer. */
  readonly signal: AbortSignal;

  /** The value of a header, several of them joined by commas; undefined when there is none. */
  header(name: Lowercase<string>): string | undefined;

  /**
   * Reads the body; once.
   *
   * @returns undefined when there is more than `bytesMax`: then the rest of it is not read.
   * @throws {Error} when the client goes away before the end.
   */
  readBody(bytesMax: number): Promise<Buffer | undefined>;
}
