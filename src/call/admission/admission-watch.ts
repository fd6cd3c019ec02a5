/** Admission control: measures headroom every second and decides whether new calls are accepted. */
import { type Clock, Notifier } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { CallRegistry } from '../call-registry.ts';

const LOOK_MS = 1000;

interface WatchOptions {
  /** Gives the figures since it was asked last; must be quick. */
  readonly measure: () => Headroom;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Measures load every second and decides from it whether new calls are admitted. */
export class AdmissionWatch {
  /** Rings when calls are taken again. */
  readonly reopened = new Notifier();
  readonly #options: WatchOptions;
  #admission: Admission = OPEN;
  #headroom: Headroom | undefined;
  #cancel: () => void = () => undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#cancel();
    this.#cancel = this.#options.clock.after(LOOK_MS, () => this.#look());
  }

  /** Safe to call twice. */
  stop(): void {
    this.#cancel();
  }

  /** The resource that is short while new calls are refused. */
  get shortage(): Shortage | null {
    return this.#admission.shortage;
  }

  /** Newest measurement; undefined during the first second. */
  get headroom(): Headroom | undefined {
    return this.#headroom;
  }

  admits(callsInProgress: number): boolean {
    return admits(this.#admission, callsInProgress);
  }

  #look(): void {
    this.start();
    this.#headroom = this.#options.measure();
    const loads = loadsOf(this.#headroom);
    const before = this.#admission;
    this.#admission = lookedAt(before, loads);
    if ((before.shortage === null) !== (this.#admission.shortage === null)) this.#changed(loads);
  }

  /** Once a change, however many calls it meets. */
  #changed(loads: Loads): void {
    const { shortage } = this.#admission;
    if (shortage !== null) {
      this.#options.log.warn(
        { shortage, loads },
        'new calls are refused: those in progress need it all',
      );
      return;
    }
    this.#options.log.info({ loads }, 'new calls are taken again');
    this.reopened.notify();
  }
}

/** State of admission between two measurements. */
export interface Admission {
  /** The resource that is short; null while new calls are admitted. */
  readonly shortage: Shortage | null;
  /** Consecutive measurements that contradict it. */
  readonly against: number;
}

/** One busy second is a request or the garbage collector, two are a burst of calls that begin; three are a state. */
const LOOKS_TO_REFUSE = 3;

/** So far beyond its limit, a figure needs no second look. */
const LOAD_SEVERE = 6;

/** Longer than it takes to refuse: the calls that are in progress shall have got over it. */
const LOOKS_TO_ADMIT = 5;

/**
 * Room for the next call must be there as well, or admission would flap. Memory is not given back when calls
 * end, and a language model may hold most of it for good: a much lower bound would never be reached.
 */
const LOADS_CALM: Loads = { event_loop: 0.7, worker_thread: 0.7, recogniser: 0.7, memory: 0.95 };

/** New calls are admitted. */
export const OPEN: Admission = { shortage: null, against: 0 };

/** The first call is always admitted: it can slow down no other, and its load must be measured. */
export function admits({ shortage }: Admission, callsInProgress: number): boolean {
  return shortage === null || callsInProgress === 0;
}

/** Next state of admission, from a measurement one second after the last. */
export function lookedAt(before: Admission, loads: Loads): Admission {
  const [worst, load] = worstOf(loads);
  if (before.shortage === null) {
    const against = load >= 1 ? before.against + 1 : 0;
    const isShort = against >= LOOKS_TO_REFUSE || load >= LOAD_SEVERE;
    return isShort ? { shortage: worst, against: 0 } : { shortage: null, against };
  }
  const against = isCalm(loads) ? before.against + 1 : 0;
  if (against >= LOOKS_TO_ADMIT) return OPEN;
  return { shortage: load >= 1 ? worst : before.shortage, against };
}

function isCalm(loads: Loads): boolean {
  return namesOf(loads).every((shortage) => loads[shortage] < LOADS_CALM[shortage]);
}

function worstOf(loads: Loads): [Shortage, number] {
  const worst = namesOf(loads).reduce((one, other) => (loads[other] > loads[one] ? other : one));
  return [worst, loads[worst]];
}

function namesOf(loads: Loads): Shortage[] {
  return Object.keys(loads) as Shortage[];
}

/** Figures of the last second. */
export interface Headroom {
  /** Event-loop lag of the main thread, 99th percentile. */
  readonly loopLagMs: number;
  /** Share of its time that the main thread is at work, 0 to 1. */
  readonly mainBusyShare: number;
  /** Share of a core that the busiest other thread uses, among media and hearing threads, 0 to 1. */
  readonly threadBusyShare: number;
  /** Recent time of the recogniser, queueing included; null without recent requests. */
  readonly recognitionMs: number | null;
  /** How long it took when it was quickest: alone, or nearly. */
  readonly recognitionAloneMs: number | null;
  /** Share of the memory that may be used, 0 to 1. */
  readonly memoryUsedShare: number;
}

/** Resources that admission watches. */
type Shortage = 'event_loop' | 'worker_thread' | 'recogniser' | 'memory';

/** Each figure divided by its limit: from 1 on, a further call would slow down those in progress. */
export type Loads = Readonly<Record<Shortage, number>>;

/** Limit of the event-loop lag: a turn crosses the main thread five times, and a longer delay becomes audible. */
const LOOP_LAG_MS_MAX = 150;

/** From here on packets begin to wait for each other, although each is still sent in time. */
const THREAD_BUSY_SHARE_MAX = 0.8;

/** Limit of memory use: the rest is for the page cache, and for a model that grows. */
const MEMORY_USED_SHARE_MAX = 0.95;

/** A recogniser that is so quick leaves the pause in the turn as it was, however much quicker it is alone. */
const RECOGNITION_MS_FINE = 700;

/** A caller who waits three times as long has two others before him. */
const RECOGNITION_RATIO_MAX = 3;

/** The main thread is not filled up to the brim: requests of customers come in between. */
const MAIN_BUSY_SHARE_MAX = 0.8;

/** Share of a thread's time below which its work is mostly not for calls. */
const IDLE_SHARE = 0.1;

/** Load of each resource that calls share, measured on this machine, divided by its limit. */
export function loadsOf(headroom: Headroom): Loads {
  const { recognitionMs, recognitionAloneMs } = headroom;
  const recognitionMsMax = Math.max(
    RECOGNITION_MS_FINE,
    RECOGNITION_RATIO_MAX * (recognitionAloneMs ?? 0),
  );
  return {
    event_loop: headroom.loopLagMs / LOOP_LAG_MS_MAX,
    worker_thread: headroom.threadBusyShare / THREAD_BUSY_SHARE_MAX,
    recogniser: (recognitionMs ?? 0) / recognitionMsMax,
    memory: headroom.memoryUsedShare / MEMORY_USED_SHARE_MAX,
  };
}

/**
 * Estimates how many more calls the machine can take, from the load that the calls in progress put on the threads.
 *
 * @param callsFree how many more the number of calls allows.
 */
export function callsLeft(
  headroom: Pick<Headroom, 'mainBusyShare' | 'threadBusyShare'>,
  calls: { readonly inProgress: number; readonly callsFree: number },
): number {
  const { mainBusyShare, threadBusyShare } = headroom;
  const { inProgress, callsFree } = calls;
  const use = Math.max(
    mainBusyShare / MAIN_BUSY_SHARE_MAX,
    threadBusyShare / THREAD_BUSY_SHARE_MAX,
  );
  if (inProgress === 0 || use < IDLE_SHARE) return callsFree;
  return Math.max(0, Math.min(callsFree, Math.floor(inProgress / use) - inProgress));
}

/** The part of the watch that a registry needs. */
export type CallGate = Pick<AdmissionWatch, 'admits' | 'reopened'>;

/** Call registry that refuses new calls while the load is too high. */
export class AdmittingRegistry extends CallRegistry {
  readonly #watch: CallGate;
  readonly #onGone: (callId: string) => void;

  /** Lives as long as the watch does. */
  constructor(options: {
    readonly callsMax: number;
    readonly watch: CallGate;
    /** Called when a call is over and on record. */
    readonly onGone?: (callId: string) => void;
  }) {
    super(options);
    this.#watch = options.watch;
    this.#onGone = options.onGone ?? (() => undefined);
    // Calls that wait for room may be admitted now.
    this.#watch.reopened.listen(() => this.freed.notify());
  }

  override delete(callId: string): void {
    const before = this.size;
    super.delete(callId);
    if (this.size < before) this.#onGone(callId);
  }

  override get isFull(): boolean {
    return super.isFull || !this.#watch.admits(this.size);
  }

  override get free(): number {
    if (this.isFull) return 0;
    // Admission would refuse a second call while a resource is short: only one call is taken then.
    return this.#watch.admits(this.size + 1) ? super.free : 1;
  }
}
