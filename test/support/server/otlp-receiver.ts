/** A collector of OpenTelemetry: takes traces as JSON over HTTP and keeps their spans. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

/** A span as it is on the wire. @see opentelemetry/proto/trace/v1/trace.proto */
export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
}

export interface ReceivedBatch {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

const LOOK_MS = 50;

export class OtlpReceiver {
  readonly batches: ReceivedBatch[] = [];
  readonly #server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { url = '', headers } = request;
    this.batches.push({ path: url, headers, text: Buffer.concat(chunks).toString() });
    response.setHeader('content-type', 'application/json').end('{}');
  });

  /** @returns the base address, without a path. */
  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  }

  /** From now on connections are refused. Safe to call twice. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  get resources(): readonly Readonly<Record<string, string | number | boolean>>[] {
    return this.#resourceSpans().map(({ resource }) => attributesOf(resource.attributes));
  }

  get spans(): readonly OtlpSpan[] {
    return this.#resourceSpans().flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) => spans),
    );
  }

  /** The spans of the call, once they are there. @throws {Error} after `withinMs`. */
  async traceOf(callId: string, withinMs = 15_000): Promise<readonly OtlpSpan[]> {
    for (let waitedMs = 0; waitedMs < withinMs; waitedMs += LOOK_MS) {
      const root = this.spans.find(
        ({ attributes }) => attributesOf(attributes)['call.id'] === callId,
      );
      if (root !== undefined) return this.spans.filter(({ traceId }) => traceId === root.traceId);
      await wait(LOOK_MS);
    }
    throw new Error(`No trace of call "${callId}" came within ${withinMs} ms`);
  }

  #resourceSpans() {
    type ResourceSpans = {
      readonly resource: { readonly attributes: readonly OtlpAttribute[] };
      readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
    };
    return this.batches.flatMap(
      ({ text }) => JSON.parse(text).resourceSpans as readonly ResourceSpans[],
    );
  }
}

export function attributesOf(
  attributes: readonly OtlpAttribute[],
): Readonly<Record<string, string | number | boolean>> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? value.intValue ?? value.doubleValue ?? '',
    ]),
  );
}
