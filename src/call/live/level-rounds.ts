/** Tells those who look how loud calls are: one round for everybody, and nothing at all while nobody looks. */
import type { Scope } from '../../domain/agent/agent.ts';
import { type CallLevels, LEVELS_MS } from '../../domain/call/live-sound.ts';
import type { Clock } from '../../lib/clock.ts';
import type { LevelMeter } from '../../media/dsp/level-meter.ts';
import type { CallInProgress } from '../call-registry.ts';

interface Watch {
  readonly scope: Scope;
  readonly onLevels: (levels: readonly CallLevels[]) => void;
}

export class LevelRounds {
  readonly #clock: Clock;
  readonly #inProgress: () => readonly CallInProgress[];
  readonly #watches = new Set<Watch>();
  /** The meters that are on, by call. */
  readonly #meters = new Map<string, LevelMeter>();
  #cancel: () => void = () => undefined;

  constructor(options: {
    readonly clock: Clock;
    readonly inProgress: () => readonly CallInProgress[];
  }) {
    this.#clock = options.clock;
    this.#inProgress = options.inProgress;
  }

  /** @returns stops it; safe to call twice. */
  watch(scope: Scope, onLevels: Watch['onLevels']): () => void {
    const watch = { scope, onLevels };
    const wasIdle = this.#watches.size === 0;
    this.#watches.add(watch);
    this.#measure();
    if (wasIdle) this.#later();
    return () => {
      if (this.#watches.delete(watch) && this.#watches.size === 0) this.#rest();
    };
  }

  /** Safe to call twice. */
  close(): void {
    this.#watches.clear();
    this.#rest();
  }

  #later(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(LEVELS_MS, () => {
      this.#tell();
      this.#measure();
      if (this.#watches.size > 0) this.#later();
    });
  }

  #tell(): void {
    const measured = this.#inProgress().flatMap((call) => {
      const taken = this.#meters.get(call.callId)?.take();
      if (taken === undefined) return [];
      const { callId } = call;
      return [{ call, levels: { callId, callerDbfs: taken.caller, agentDbfs: taken.agent } }];
    });
    for (const { scope, onLevels } of [...this.#watches]) {
      const own = measured.filter(({ call }) => isSame(scope, call.scope));
      if (own.length > 0) onLevels(own.map(({ levels }) => levels));
    }
  }

  /** Turns on the meters of calls that somebody looks at, and off those of all others. */
  #measure(): void {
    const watched = this.#inProgress().filter(({ scope }) =>
      [...this.#watches].some((watch) => isSame(watch.scope, scope)),
    );
    const ids = new Set(watched.map(({ callId }) => callId));
    for (const [callId, meter] of this.#meters) if (!ids.has(callId)) this.#turnOff(callId, meter);
    for (const { callId, audio } of watched) {
      if (audio.meter === undefined || this.#meters.has(callId)) continue;
      audio.meter.start();
      this.#meters.set(callId, audio.meter);
    }
  }

  #turnOff(callId: string, meter: LevelMeter): void {
    meter.stop();
    this.#meters.delete(callId);
  }

  #rest(): void {
    this.#cancel();
    for (const [callId, meter] of this.#meters) this.#turnOff(callId, meter);
  }
}

function isSame(one: Scope, other: Scope): boolean {
  return one.accountId === other.accountId && one.environment === other.environment;
}
