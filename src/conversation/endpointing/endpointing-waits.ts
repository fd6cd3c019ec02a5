/** Silence that ends a turn, by how soon an agent is to answer; pure */
import type { Responsiveness } from '../../domain/agent/agent.ts';

/** Silence to wait for, in milliseconds; 3 s at most in every case. */
export interface EndpointingWaits {
  /** After a value that cannot go on, and after a turn that words and a trusted turn model take for complete. */
  readonly silenceMsMin: number;
  /** After words that break off. */
  readonly silenceMsMax: number;
  /** After a whole question: it gives up the floor. */
  readonly questionMs: number;
  /** After a whole statement: another sentence may follow. */
  readonly statementMs: number;
}

/**
 * How much later than the caller's voice the detector's ends: 4 to 108 ms on twelve phrases. It is taken off the wait after a
 * question, so that the caller hears 200, 300 or 600 ms of silence.
 */
const DETECTOR_LATE_MS = 50;

/** The first two of each are for a turn model that is trusted, the other two for words alone. */
export const ENDPOINTING_WAITS: Readonly<Record<Responsiveness, EndpointingWaits>> = {
  fast: {
    silenceMsMin: 200,
    silenceMsMax: 900,
    questionMs: 200 - DETECTOR_LATE_MS,
    statementMs: 300,
  },
  balanced: {
    silenceMsMin: 250,
    silenceMsMax: 1200,
    questionMs: 300 - DETECTOR_LATE_MS,
    statementMs: 750,
  },
  patient: {
    silenceMsMin: 500,
    silenceMsMax: 1800,
    questionMs: 600 - DETECTOR_LATE_MS,
    statementMs: 1200,
  },
};
