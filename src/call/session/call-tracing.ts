/** OpenTelemetry traces of calls: one trace for each ended call. */

import type { CallStore } from '../../domain/call/call.ts';
import type { Logger } from '../../lib/logger.ts';
import type { OtlpSpans } from '../../lib/span-exporter.ts';
import { spansOfCall } from './call-spans.ts';

/** Makes one trace of each ended call. */
export class CallTracing {
  readonly #calls: Pick<CallStore, 'findById' | 'timeline'>;
  readonly #spans: OtlpSpans;
  readonly #log: Logger;

  constructor(options: {
    readonly calls: Pick<CallStore, 'findById' | 'timeline'>;
    readonly spans: OtlpSpans;
    readonly log: Logger;
  }) {
    this.#calls = options.calls;
    this.#spans = options.spans;
    this.#log = options.log;
  }

  /** Traces an ended call from its record. Never throws: tracing must not end calls. */
  async callOver(callId: string): Promise<void> {
    try {
      const call = await this.#calls.findById(callId);
      if (call === undefined) return;
      const tree = spansOfCall(call, await this.#calls.timeline(callId));
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
