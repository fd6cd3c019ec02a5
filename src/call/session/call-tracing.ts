/** OpenTelemetry traces of calls: one trace for each ended call. */

import type { CallStore } from '../../domain/call/call.ts';
import type { Logger } from '../../lib/logger.ts';
import type { OtlpSpans } from '../../lib/span-exporter.ts';
import { spansOfCall } from './call-spans.ts';

interface Parts {
  readonly calls: Pick<CallStore, 'findById' | 'timeline'>;
  readonly spans: OtlpSpans;
  readonly log: Logger;
}

/** Makes one trace of each ended call. */
export class CallTracing {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Traces an ended call from its record. Never throws: tracing must not end calls. */
  async callOver(callId: string): Promise<void> {
    try {
      const call = await this.#parts.calls.findById(callId);
      if (call === undefined) return;
      const tree = spansOfCall(call, await this.#parts.calls.timeline(callId));
      if (tree !== null) this.#parts.spans.add(tree);
    } catch (error) {
      this.#parts.log.warn({ callId, err: error }, 'the trace of a call could not be made');
    }
  }

  /** Safe to call twice. */
  stop(): Promise<void> {
    return this.#parts.spans.stop();
  }
}
