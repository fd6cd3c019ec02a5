/** SIP traces: the SIP messages of a call, and the contract of the store that keeps them. */
import type { Call } from './call.ts';

/** Retention of SIP traces: as long as events, because the messages hold telephone numbers. */
export const SIP_TRACES_KEPT_MS = 30 * 86_400_000;

/** One SIP message of a call. */
export interface SipTraceMessage {
  readonly at: Date;
  readonly direction: 'in' | 'out';
  readonly transport: 'UDP' | 'TCP' | 'TLS' | 'WS' | 'WSS';
  /** Host and port it came from, IPv6 in brackets. */
  readonly from: string;
  readonly to: string;
  /** The whole message without credentials and media keys; cut off where it was very long. */
  readonly text: string;
}

/** SIP messages of one call. */
export interface SipTrace {
  /** In the order in which they came and went. */
  readonly messages: readonly SipTraceMessage[];
  /** Whether messages, or the ends of long ones, are missing. */
  readonly isTruncated: boolean;
}

/** A trace that is to be kept. */
export interface KeptSipTrace extends SipTrace {
  readonly callId: string;
  readonly keptAt: Date;
}

/** Keeps SIP traces of calls that are over; erasing a call erases its trace. */
export interface SipTraceStore {
  /** Keeps all traces, or none; existing ones are replaced. Traces of calls that do not exist any more are left out. */
  keep(traces: readonly KeptSipTrace[]): Promise<void>;

  find(callId: string): Promise<SipTrace | undefined>;
}

/** SIP trace of a call as the REST interface answers it. */
export interface CallSipTrace extends SipTrace {
  readonly source: 'engine' | 'none';
  /** Why there are no messages, and where to look instead; null where there are some. */
  readonly note: string | null;
}

/** Finds the messages of calls, over or not. */
export interface SipTraces {
  of(call: Call): Promise<CallSipTrace>;
}
