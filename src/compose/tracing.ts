/** Composition root: tells a collector where the time of each call went, where the operator has named one. */
import { spansOfCall } from '../call/session/call-spans.ts';
import type { Config } from '../config/config.ts';
import type { Logger } from '../lib/logger.ts';
import type { OtlpSpans } from '../lib/span-exporter.ts';
import type { Store } from '../store/store.ts';

interface Options {
  readonly config: Config;
  readonly version: string;
  readonly store: Pick<Store, 'calls'>;
  readonly log: Logger;
}

/** Makes one trace of each call that is over. */
export class CallTracing {
  readonly #store: Pick<Store, 'calls'>;
  readonly #spans: OtlpSpans;
  readonly #log: Logger;

  constructor(options: Omit<Options, 'config' | 'version'> & { readonly spans: OtlpSpans }) {
    this.#store = options.store;
    this.#spans = options.spans;
    this.#log = options.log;
  }

  /** A call is over and on record. Never throws: what watches calls must not end them. */
  callOver(callId: string): void {
    try {
      const call = this.#store.calls.findById(callId);
      if (call === undefined) return;
      const tree = spansOfCall(call, this.#store.calls.timeline(callId));
      if (tree !== null) this.#spans.add(tree);
    } catch (error) {
      this.#log.warn({ callId, err: error }, 'the trace of a call could not be made');
    }
  }

  /** Safe to call twice. */
  stop(): Promise<void> {
    return this.#spans.stop();
  }
}

/** Loads what sends traces, where a collector is set; undefined, and nothing loaded, where none is. */
export async function openTracing(options: Options): Promise<CallTracing | undefined> {
  const { config, version, store, log } = options;
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return undefined;
  const { OtlpSpans } = await import('../lib/span-exporter.ts');
  const spans = new OtlpSpans({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    headers: headersOf(config.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    serviceName: config.OTEL_SERVICE_NAME,
    version,
    log,
  });
  return new CallTracing({ spans, store, log });
}

/** `name=value,name=value`, values percent-encoded. @see OpenTelemetry, protocol exporter, "Specifying headers" */
function headersOf(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name.trim(), decodeURIComponent(value.join('=').trim())];
    }),
  );
}
