/** Registry of live calls in this process, with the limit of concurrent calls. */
import type { Scope } from '../domain/agent/agent.ts';
import { PLAIN_TRANSFER, type TransferManner } from '../domain/agent/transfer-rules.ts';
import type { LiveCalls, TransferStart } from '../domain/call/live-sound.ts';
import { Notifier } from '../lib/clock.ts';
import type { AudioStream } from '../media/audio-stream.ts';

/** An answered call in progress: its audio, and the ways to control it. */
export interface CallInProgress {
  readonly callId: string;
  readonly scope: Scope;
  readonly audio: AudioStream;

  /** Begins a transfer that the customer requested. @param number E.164, already allowed. */
  transfer(number: string, manner: TransferManner): TransferStart;
}

/** A live call, as the registry sees it. */
export interface LiveCall {
  readonly callId: string;

  /** From the answer to the release; the same object as long. */
  readonly inProgress?: CallInProgress | undefined;

  /** Begins to end the call because a customer asked for it: as the agent's hang-up, or as unanswered. */
  hangUp(): void;

  /** Ends the call with a cause of our own, such as a shutdown. Resolves when it is on record. */
  end(reason: string): Promise<void>;
}

/** Counts and finds live calls. */
export class CallRegistry implements LiveCalls {
  /** How many calls there may be. */
  readonly callsMax: number;
  /** Rings after a call has gone. */
  readonly freed = new Notifier();
  readonly #calls = new Map<string, LiveCall>();
  #emptyListeners: (() => void)[] = [];

  constructor(options: { readonly callsMax: number }) {
    this.callsMax = options.callsMax;
  }

  get size(): number {
    return this.#calls.size;
  }

  get isFull(): boolean {
    return this.#calls.size >= this.callsMax;
  }

  /** How many more calls there may be now. */
  get free(): number {
    return Math.max(0, this.callsMax - this.#calls.size);
  }

  add(call: LiveCall): void {
    this.#calls.set(call.callId, call);
  }

  delete(callId: string): void {
    if (this.#calls.delete(callId)) this.freed.notify();
    if (this.#calls.size > 0) return;
    const listeners = this.#emptyListeners;
    this.#emptyListeners = [];
    for (const listener of listeners) listener();
  }

  holds(callId: string): boolean {
    return this.#calls.has(callId);
  }

  hangUp(callId: string): boolean {
    if (!this.#calls.has(callId)) return false;
    // Asked again then: a call that is answered meanwhile is held by another.
    queueMicrotask(() => this.#calls.get(callId)?.hangUp());
    return true;
  }

  transfer(callId: string, number: string, manner = PLAIN_TRANSFER): TransferStart {
    const call = this.#calls.get(callId)?.inProgress;
    return call?.transfer(number, manner) ?? 'not-in-progress';
  }

  /** The calls that were answered and go on. */
  get inProgress(): readonly CallInProgress[] {
    return [...this.#calls.values()].flatMap(({ inProgress }) => inProgress ?? []);
  }

  /** Resolves when no call is left. */
  whenEmpty(): Promise<void> {
    if (this.#calls.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#emptyListeners.push(resolve);
    });
  }

  /** Ends every call. Never rejects: one that cannot be ended does not keep the others, or the server, alive. */
  async endAll(reason: string): Promise<void> {
    await Promise.allSettled([...this.#calls.values()].map((call) => call.end(reason)));
  }
}
