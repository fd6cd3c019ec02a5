/** Composition root: keeps the SIP messages of each call when it is over, and shows them. */
import type { Config } from '../config/config.ts';
import type { Call } from '../domain/call/call.ts';
import type {
  CallSipTrace,
  KeptSipTrace,
  SipTrace,
  SipTraceMessage,
  SipTraces,
} from '../domain/call/sip-trace.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import {
  type CallTrace,
  type CallTraces,
  type TracedMessage,
  traceText,
} from '../sip/trace/call-traces.ts';
import { formatEndpoint } from '../sip/transport/flow.ts';
import type { Store } from '../store/store.ts';

/** Between two looks at which calls are quiet. */
const LOOK_MS = 1000;

/** Calls of one write: more keep the thread from the conversations for longer than a millisecond or two. */
const CALLS_AT_ONCE = 10;

/** Between two writes, where many calls have ended together. */
const BREATH_MS = 5;

/** The 200 to BYE comes within a moment, and what was lost is repeated every 4 s. RFC 3261, 17.1.2.2. */
const QUIET_MS = 5000;

/** No transaction lasts longer than 64*T1, 32 s: nothing belongs to the call any more. */
const LATE_MS_MAX = 35_000;

/** A disk that fails longer than this has other troubles. */
const WRITE_MS_MAX = 120_000;

interface Ended {
  readonly callId: string;
  readonly sipCallId: string;
  readonly atMs: number;
}

interface Parts {
  readonly store: Pick<Store, 'calls' | 'sipTraces'>;
  readonly traces: CallTraces;
  /** Whether a server elsewhere does the SIP. */
  readonly isRemote: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Nothing is kept before the first call is over. */
export function openSipTraces(from: {
  readonly config: Pick<Config, 'TELEPHONY'>;
  readonly store: Parts['store'];
  readonly telephony: { readonly traces: CallTraces };
  readonly log: Logger;
}): SipTraceKeeper {
  const { config, store, log } = from;
  const { traces } = from.telephony;
  const isRemote = config.TELEPHONY === 'drachtio';
  return new SipTraceKeeper({ store, traces, isRemote, clock: systemClock, log });
}

/** Keeps a call's messages once no more of them come, a few calls in one write. */
export class SipTraceKeeper implements SipTraces {
  readonly #parts: Parts;
  readonly #ended = new Map<string, Ended>();
  #cancel: (() => void) | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A call is over and on record. Never throws: what watches calls must not end them. */
  callOver(callId: string): void {
    const { store, traces, clock, log } = this.#parts;
    try {
      const sipCallId = store.calls.findById(callId)?.carrierCallSid ?? '';
      if (traces.get(sipCallId) === undefined) return;
      this.#ended.set(callId, { callId, sipCallId, atMs: clock.nowMs() });
      this.#cancel ??= clock.after(LOOK_MS, () => this.#look());
    } catch (error) {
      log.warn({ callId, err: error }, 'the SIP messages of a call could not be kept');
    }
  }

  /** From memory while they still come, else from the record. */
  of(call: Call): CallSipTrace {
    const { store, traces } = this.#parts;
    const trace = traces.get(call.carrierCallSid ?? '');
    const found = trace === undefined ? store.sipTraces.find(call.id) : shown(trace);
    if (found !== undefined) return { ...found, source: 'engine', note: null };
    return { messages: [], isTruncated: false, source: 'none', note: this.#noteOn(call) };
  }

  /** Keeps what there is now. Safe to call twice. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#keep([...this.#ended.values()]);
  }

  #look(): void {
    const { traces, clock } = this.#parts;
    const nowMs = clock.nowMs();
    const isQuiet = ({ sipCallId, atMs }: Ended) =>
      nowMs - (traces.get(sipCallId)?.lastAtMs ?? 0) >= QUIET_MS || nowMs - atMs >= LATE_MS_MAX;
    const quiet = [...this.#ended.values()].filter(isQuiet);
    const isKept = this.#keep(quiet.slice(0, CALLS_AT_ONCE));
    const nextMs = isKept && quiet.length > CALLS_AT_ONCE ? BREATH_MS : LOOK_MS;
    this.#cancel = this.#ended.size === 0 ? undefined : clock.after(nextMs, () => this.#look());
  }

  /** @returns whether they are on record. */
  #keep(ended: readonly Ended[]): boolean {
    if (ended.length === 0) return true;
    const { store, clock, log } = this.#parts;
    try {
      store.sipTraces.keep(ended.flatMap((call) => this.#keptOf(call)));
      for (const call of ended) this.#forget(call);
      return true;
    } catch (error) {
      log.warn({ err: error, calls: ended.length }, 'SIP messages of calls not kept');
      const oldestMs = clock.nowMs() - WRITE_MS_MAX;
      for (const call of ended.filter(({ atMs }) => atMs < oldestMs)) this.#forget(call);
      return false;
    }
  }

  #keptOf({ callId, sipCallId }: Ended): KeptSipTrace[] {
    const { traces, clock } = this.#parts;
    const trace = traces.get(sipCallId);
    return trace === undefined ? [] : [{ ...shown(trace), callId, keptAt: clock.now() }];
  }

  #forget({ callId, sipCallId }: Ended): void {
    this.#ended.delete(callId);
    this.#parts.traces.forget(sipCallId);
  }

  #noteOn(call: Call): string {
    if (call.carrierCallSid === null) return 'Nobody was dialled yet, so there are no SIP messages';
    if (call.environment === 'test') return 'A simulated call has no SIP messages';
    if (this.#parts.isRemote) {
      return 'A drachtio server does the SIP: its log has the messages (sofia log level 9), and so has sngrep on its machine';
    }
    return 'There are none any more: they are kept for 30 days, and lost when the server dies during the call';
  }
}

function shown(trace: CallTrace): SipTrace {
  return { messages: trace.messages.map(messageOf), isTruncated: trace.isTruncated };
}

function messageOf(message: TracedMessage): SipTraceMessage {
  const { atMs, isIncoming, protocol, local, remote } = message;
  const [from, to] = isIncoming ? [remote, local] : [local, remote];
  return {
    at: new Date(atMs),
    direction: isIncoming ? 'in' : 'out',
    transport: protocol,
    from: formatEndpoint(from),
    to: formatEndpoint(to),
    text: traceText(message),
  };
}
