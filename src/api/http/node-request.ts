/** A request of Node's as the interface asks it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { urlHost } from '../../lib/local-routes.ts';
import type { ApiRequest } from './api-request.ts';
import { type RequestTarget, requestTarget, TargetError } from './request-target.ts';

interface NodeRequestOptions {
  readonly host: string;
  readonly askForBody?: (() => void) | undefined;
}

export class NodeRequest implements ApiRequest {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly queryText: string;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #askForBody: (() => void) | undefined;
  #gone: AbortController | undefined;

  /**
   * @param options.host of requests that name none.
   * @param options.askForBody tells a client to send its body, where it waits for that.
   * @throws {TargetError} when its `Host` or path is none.
   */
  constructor(incoming: IncomingMessage, outgoing: ServerResponse, options: NodeRequestOptions) {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#askForBody = options.askForBody;
    this.method = incoming.method ?? 'GET';
    const host = this.header('host');
    // Only before HTTP/1.1 there may be none. Two of them make a list, which is no host. RFC 9112, 3.2.
    if (host === undefined && incoming.httpVersion === '1.1') throw new TargetError('No Host');
    const target: RequestTarget = requestTarget(this.#targetText, host || urlHost(options.host));
    this.host = target.host;
    this.path = target.path;
    this.queryText = target.queryText;
  }

  /** What a tunnel is asked for is no path, but another server: then this one is asked as a whole. */
  get #targetText(): string {
    const { url = '' } = this.#incoming;
    return this.method === 'CONNECT' && !url.startsWith('/') ? '' : url;
  }

  get remoteAddress(): string | undefined {
    return this.#incoming.socket.remoteAddress;
  }

  get signal(): AbortSignal {
    if (this.#gone === undefined) {
      const gone = new AbortController();
      const outgoing = this.#outgoing;
      const abort = () => {
        if (!outgoing.writableFinished) gone.abort(new Error('The client went away'));
      };
      if (outgoing.closed) abort();
      else outgoing.once('close', abort);
      this.#gone = gone;
    }
    return this.#gone.signal;
  }

  /** By Node's own table, which joins all of one name where its server is told to (`joinDuplicateHeaders`). */
  header(name: Lowercase<string>): string | undefined {
    const value = this.#incoming.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  readBody(bytesMax: number): Promise<Buffer | undefined> {
    const incoming = this.#incoming;
    // Of a request that announced none, nothing tells its end any more.
    if (incoming.readableEnded) return Promise.resolve(Buffer.alloc(0));
    this.#askForBody?.();
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let sizeBytes = 0;
      const take = (chunk: Buffer) => {
        sizeBytes += chunk.length;
        if (sizeBytes <= bytesMax) chunks.push(chunk);
        else {
          incoming.off('data', take);
          incoming.pause();
          resolve(undefined);
        }
      };
      incoming.on('data', take);
      incoming.on('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
      // Node tells of an error only who listens for one, and closes in any case.
      incoming.on('close', () => {
        if (!incoming.readableEnded) reject(new Error('The client went away'));
      });
    });
  }
}
