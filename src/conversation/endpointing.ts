/** How long a silence must be to end the caller's turn; pure */

export interface EndpointingLimits {
  readonly silenceMsMin: number;
  readonly silenceMsMax: number;
}

export interface PauseObservation {
  /** How finished the words sound, from 0 to 1. */
  readonly completeness: number;
  /** Whether the caller is reading out a number or an address, with pauses between its parts. */
  readonly isDictating: boolean;
  /** This caller's usual pause inside a turn; 0 until one was heard. */
  readonly typicalPauseMs: number;
}

/** How finished a turn is taken to sound as long as its words are not known. */
export const COMPLETENESS_UNKNOWN = 0.5;

/** Share of the newest pause in the caller's usual one. */
const NEWEST_SHARE = 0.3;

/** A pause must be this much longer than the caller's usual one to mean the end. */
const OVER_USUAL = 1.2;

/** The more finished the words sound, the less silence is needed; hesitant callers get more. */
export function silenceRequiredMs(pause: PauseObservation, limits: EndpointingLimits): number {
  const { silenceMsMin, silenceMsMax } = limits;
  if (pause.isDictating) return silenceMsMax;
  const patienceMs = Math.min(pause.typicalPauseMs * OVER_USUAL, (silenceMsMin + silenceMsMax) / 2);
  const leastMs = Math.max(silenceMsMin, patienceMs);
  return Math.round(silenceMsMax - (silenceMsMax - leastMs) * pause.completeness);
}

/** Takes one more pause after which the caller went on into account. */
export function rememberPause(typicalPauseMs: number, pauseMs: number): number {
  return typicalPauseMs * (1 - NEWEST_SHARE) + Math.max(0, pauseMs) * NEWEST_SHARE;
}
