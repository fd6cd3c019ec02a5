/** Whether one more call is taken: by what is measured, slow to change its mind; pure */
import type { Loads, Shortage } from './headroom.ts';

export interface Admission {
  /** What there is too little of while new calls are refused; null while they are taken. */
  readonly shortage: Shortage | null;
  /** How many looks in a row have spoken against that. */
  readonly against: number;
}

/** One busy second is a request or the garbage collector, two are a burst of calls that begin; three are a state. */
const LOOKS_TO_REFUSE = 3;

/** So far beyond its limit, a figure needs no second look. */
const LOAD_SEVERE = 6;

/** Longer than it takes to refuse: the calls that are in progress shall have got over it. */
const LOOKS_TO_ADMIT = 5;

/**
 * Room for the next call must be there as well, or the door would open and shut. Memory is not given back when calls
 * end, and a language model may hold most of it for good: waiting for much less would be waiting for ever.
 */
const LOADS_CALM: Loads = { event_loop: 0.7, worker_thread: 0.7, recogniser: 0.7, memory: 0.95 };

export const OPEN: Admission = { shortage: null, against: 0 };

/** The first call is always taken: there is nobody whom it could slow down, and nothing else would show that it goes. */
export function admits({ shortage }: Admission, callsInProgress: number): boolean {
  return shortage === null || callsInProgress === 0;
}

/** What to hold by after one more look, a second after the last. */
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
