/** SIP messages of calls: from the engine while a call lasts, from the record afterwards. */
import type { Call, CallStore } from '../../domain/call/call.ts';
import type {
  CallSipTrace,
  KeptSipTrace,
  SipTrace,
  SipTraceStore,
  SipTraces,
} from '../../domain/call/sip-trace.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';

/** Interval between checks for quiet calls. */
const LOOK_MS = 1000;

/** Calls of one write: more keep the thread from the conversations for longer than a millisecond or two. */
const CALLS_AT_ONCE = 10;

/** Pause between two writes, where many calls have ended together. */
const BREATH_MS = 5;

/** The 200 to a BYE comes at once, and a lost BYE is repeated every 4 s. RFC 3261, 17.1.2.2. */
const QUIET_MS = 5000;

/** No transaction lasts longer than 64*T1, 32 s: later messages do not belong to the call. */
const LATE_MS_MAX = 35_000;

/** A disk that fails longer than this has other troubles. */
const WRITE_MS_MAX = 120_000;

interface Ended {
  readonly callId: string;
  readonly sipCallId: string;
  readonly atMs: number;
}

/** The SIP engine's messages of calls that go on, by SIP Call-ID. */
export interface EngineTraces {
  get(sipCallId: string): EngineTrace | undefined;
  forget(sipCallId: string): void;
}

/** Messages after the call's end. */
export interface EngineTrace {
  /** When the newest message came or went, in milliseconds since 1970. */
  readonly lastAtMs: number;
  read(): SipTrace;
}

interface Parts {
  readonly calls: Pick<CallStore, 'findById'>;
  readonly sipTraces: SipTraceStore;
  readonly traces: EngineTraces;
  /** Whether a server elsewhere does the SIP. */
  readonly isRemote: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Writes the messages of ended calls, a few calls at a time, once no more messages come. */
export class SipTraceKeeper implements SipTraces {
  readonly #parts: Parts;
  readonly #ended = new Map<string, Ended>();
  #cancel: (() => void) | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Keeps the messages of an ended call once no more of them come. Never throws: traces must not end calls. */
  async callOver(callId: string): Promise<void> {
    const { calls, traces, clock, log } = this.#parts;
    try {
      const sipCallId = (await calls.findById(callId))?.carrierCallSid ?? '';
      if (traces.get(sipCallId) === undefined) return;
      this.#ended.set(callId, { callId, sipCallId, atMs: clock.nowMs() });
      this.#cancel ??= clock.after(LOOK_MS, () => void this.#look());
    } catch (error) {
      log.warn({ callId, err: error }, 'the SIP messages of a call could not be kept');
    }
  }

  /** Reads from the engine while messages still come, otherwise from the record. */
  async of(call: Call): Promise<CallSipTrace> {
    const { sipTraces, traces } = this.#parts;
    const trace = traces.get(call.carrierCallSid ?? '');
    const found = trace === undefined ? await sipTraces.find(call.id) : trace.read();
    if (found !== undefined) return { ...found, source: 'engine', note: null };
    return { messages: [], isTruncated: false, source: 'none', note: this.#noteOn(call) };
  }

  /** Writes the messages of all ended calls now. Safe to call twice. */
  async stop(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    await this.#keep([...this.#ended.values()]);
  }

  async #look(): Promise<void> {
    const { traces, clock } = this.#parts;
    const nowMs = clock.nowMs();
    const isQuiet = ({ sipCallId, atMs }: Ended) =>
      nowMs - (traces.get(sipCallId)?.lastAtMs ?? 0) >= QUIET_MS || nowMs - atMs >= LATE_MS_MAX;
    const quiet = [...this.#ended.values()].filter(isQuiet);
    const isKept = await this.#keep(quiet.slice(0, CALLS_AT_ONCE));
    const nextMs = isKept && quiet.length > CALLS_AT_ONCE ? BREATH_MS : LOOK_MS;
    this.#cancel =
      this.#ended.size === 0 ? undefined : clock.after(nextMs, () => void this.#look());
  }

  /** @returns whether they are on record. */
  async #keep(ended: readonly Ended[]): Promise<boolean> {
    if (ended.length === 0) return true;
    const { sipTraces, clock, log } = this.#parts;
    try {
      await sipTraces.keep(ended.flatMap((call) => this.#keptOf(call)));
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
    return trace === undefined ? [] : [{ ...trace.read(), callId, keptAt: clock.now() }];
  }

  #forget({ callId, sipCallId }: Ended): void {
    this.#ended.delete(callId);
    this.#parts.traces.forget(sipCallId);
  }

  #noteOn(call: Call): string {
    if (call.carrierCallSid === null)
      return 'The call was not dialled, so there are no SIP messages';
    if (call.environment === 'test') return 'A simulated call has no SIP messages';
    if (this.#parts.isRemote) {
      return 'A drachtio server does the SIP: its log has the messages (sofia log level 9), and so has sngrep on its machine';
    }
    return 'There are none any more: they are kept for 30 days, and lost when the server dies during the call';
  }
}
