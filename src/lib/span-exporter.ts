/** Sends spans to an OpenTelemetry collector by OTLP over HTTP. To be imported only where one is set: it is large. */

import { type Context, type HrTime, ROOT_CONTEXT, type Tracer, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { systemClock, waitAtMost } from './clock.ts';
import type { Logger } from './logger.ts';

/** A span with its child spans; times are milliseconds since 1970. */
export interface SpanTree {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly children: readonly SpanTree[];
  readonly instants: readonly { readonly name: string; readonly atMs: number }[];
}

/** Spans that wait: enough for a busy minute, since a call of some minutes has some dozens; further spans are dropped. */
const QUEUE_MAX = 8192;
const BATCH_MAX = 512;
const SEND_EVERY_MS = 2000;
const SEND_MS_MAX = 5000;

/** A server that stops does not wait for a collector that is away. */
const STOP_MS_MAX = 2000;

/** Exports spans over OTLP/HTTP. */
export class OtlpSpans {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  #stopped: Promise<void> | undefined;

  /** @param options.url of the traces, such as `http://127.0.0.1:4318/v1/traces`. */
  constructor(options: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly serviceName: string;
    readonly version: string;
    readonly log: Logger;
  }) {
    const { url, headers, serviceName, version, log } = options;
    const exporter = new OTLPTraceExporter({
      url,
      headers: { ...headers },
      timeoutMillis: SEND_MS_MAX,
    });
    const processor = new BatchSpanProcessor({
      exporter: watched(exporter, log),
      maxQueueSize: QUEUE_MAX,
      maxExportBatchSize: BATCH_MAX,
      scheduledDelayMillis: SEND_EVERY_MS,
      exportTimeoutMillis: SEND_MS_MAX,
    });
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
      spanProcessors: [processor],
    });
    this.#tracer = this.#provider.getTracer('offhook', version);
  }

  /** Queues a trace of its own. Never waits, and never throws when the collector is missing. */
  add(tree: SpanTree): void {
    this.#add(tree, ROOT_CONTEXT);
  }

  /** Sends the queued spans, for 2 s at most. Safe to call twice. */
  stop(): Promise<void> {
    this.#stopped ??= this.#shutDown();
    return this.#stopped;
  }

  async #shutDown(): Promise<void> {
    // A failed export was logged; nothing more can be done about it.
    const sent = this.#provider.shutdown().catch(() => undefined);
    await waitAtMost(systemClock, STOP_MS_MAX, sent);
  }

  #add({ name, startMs, endMs, attributes, children, instants }: SpanTree, parent: Context): void {
    const startTime = instantOf(startMs);
    const span = this.#tracer.startSpan(name, { startTime, attributes: { ...attributes } }, parent);
    for (const instant of instants) span.addEvent(instant.name, instantOf(instant.atMs));
    const inside = trace.setSpan(parent, span);
    for (const child of children) this.#add(child, inside);
    span.end(instantOf(endMs));
  }
}

/** Seconds and nanoseconds. */
function instantOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

/** Says once that spans do not arrive, and once that they do again. */
function watched(exporter: SpanExporter, log: Logger): SpanExporter {
  let isFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const hasFailed = result.error !== undefined || result.code !== 0;
        if (hasFailed && !isFailing) {
          log.warn({ err: result.error }, 'traces cannot be delivered, calls go on');
        }
        if (!hasFailed && isFailing) log.info({}, 'traces are delivered again');
        isFailing = hasFailed;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

/** Parses `name=value,name=value`, values percent-encoded. @see OpenTelemetry, protocol exporter, "Specifying headers" */
export function otlpHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name.trim(), decodeURIComponent(value.join('=').trim())];
    }),
  );
}
