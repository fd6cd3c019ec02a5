/** How much of what calls share is used up, as measured on this machine, and how many more calls that leaves; pure */

/** Figures of the last second. */
export interface Headroom {
  /** How late the main thread runs what is due, 99th percentile. */
  readonly loopLagMs: number;
  /** Share of its time that the main thread is at work, 0 to 1. */
  readonly mainBusyShare: number;
  /** Share of a core that the busiest of the other threads uses, those that play and hear sound, 0 to 1. */
  readonly threadBusyShare: number;
  /** How long the recogniser took of late, the wait for its turn included; null when nobody asked it. */
  readonly recognitionMs: number | null;
  /** How long it took when it was quickest: alone, or nearly. */
  readonly recognitionAloneMs: number | null;
  /** Share of the memory that may be used, 0 to 1. */
  readonly memoryUsedShare: number;
}

/** What there may be too little of. */
export type Shortage = 'event_loop' | 'worker_thread' | 'recogniser' | 'memory';

/** Each figure over its limit: from 1 on a further call would slow down those in progress. */
export type Loads = Readonly<Record<Shortage, number>>;

/** The slowest hundredth of what is due; a turn crosses the main thread five times, and later than this it is heard. */
const LOOP_LAG_MS_MAX = 150;

/** From here on packets begin to wait for each other, although each is still sent in time. */
const THREAD_BUSY_SHARE_MAX = 0.8;

/** What is left beyond it goes to the page cache, and to a model that grows. */
const MEMORY_USED_SHARE_MAX = 0.95;

/** A recogniser that is so quick leaves the pause in the turn as it was, however much quicker it is alone. */
const RECOGNITION_MS_FINE = 700;

/** A caller who waits three times as long has two others before him. */
const RECOGNITION_RATIO_MAX = 3;

/** The main thread is not filled up to the brim: requests of customers come in between. */
const MAIN_BUSY_SHARE_MAX = 0.8;

/** Below this what a thread does is mostly not done for calls. */
const IDLE_SHARE = 0.1;

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
 * About how many more calls there is room for, taken from what those in progress cost the threads.
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
