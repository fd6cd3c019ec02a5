/** When a session's packets leave: every 20 ms, earlier where a reply begins, and near its caller's where there are many sessions. */
import { FRAME_MS } from '../audio-stream.ts';
import type { Pacer, Rider } from './pacer.ts';

/** Milliseconds by which rounding may make a stream seem ahead. */
const AHEAD_TOLERANCE_MS = 1;

/** No packet of the caller for so long: there is nothing to be near to. */
const SILENT_MS = 5 * FRAME_MS;

/** Within so much of the caller's packet, before or after it, what a session keeps still lies in the processor's memory. */
const NEAR_MS = 1.1;

/** So many beats in a row are far from the caller's packets before the beat moves by a millisecond: half a second. */
const FAR_BEATS = 25;

/**
 * A talkspurt does not wait for the session's next 20 ms: it starts now, and the session's beat moves with it. The stream
 * is then ahead of its time by less than a packet, and the first silence after the talkspurt waits that much longer,
 * so timestamps have no seam and a call of any length has no drift.
 *
 * Where a packet in and one out come together, what they need of the session and of its socket is fetched once for both,
 * which is a good part of what they cost. So the beat goes to where the caller's packets come, so slowly that no
 * far end hears it, and never further than a packet from the stream's own time.
 */
export class SendSchedule {
  readonly #session: Rider;
  readonly #pacer: Pacer;
  /** Negative when it is behind. */
  #aheadMs = 0;
  /** Whether a talkspurt moved the beat, which its end puts right. */
  #isEarly = false;
  #farBeats = 0;

  constructor(session: Rider, pacer: Pacer) {
    this.#session = session;
    this.#pacer = pacer;
  }

  /** Has this moment be the beat. @returns false, and changes nothing, when the stream would be too far ahead. */
  startNow(): boolean {
    const earlyMs = this.#pacer.waitMs(this.#session);
    if (this.#aheadMs + earlyMs > FRAME_MS + AHEAD_TOLERANCE_MS) return false;
    this.#aheadMs += earlyMs;
    this.#isEarly = true;
    this.#pacer.move(this.#session, FRAME_MS);
    return true;
  }

  /** At the end of a talkspurt, puts this beat off until the stream is no longer ahead. @returns false when it is not. */
  waitIfAhead(): boolean {
    this.#isEarly = false;
    if (this.#aheadMs < AHEAD_TOLERANCE_MS) return false;
    this.#pacer.move(this.#session, this.#aheadMs);
    this.#aheadMs = 0;
    return true;
  }

  /** Follows the caller, a millisecond at a time. Called at each beat that was kept. */
  follow(sinceHeardMs: number): void {
    const laterMs = FRAME_MS - (sinceHeardMs % FRAME_MS);
    const isNear = laterMs <= NEAR_MS || laterMs >= FRAME_MS - NEAR_MS;
    if (isNear || sinceHeardMs >= SILENT_MS) {
      this.#farBeats = 0;
      return;
    }
    this.#farBeats += 1;
    if (this.#farBeats < FAR_BEATS) return;
    this.#farBeats = 0;
    const stepMs = this.#isBetterLater(laterMs) ? 1 : -1;
    if (this.#pacer.nudge(this.#session, stepMs)) this.#aheadMs -= stepMs;
  }

  /** The shorter way round, where it does not lead too far; in silence never ahead, so that the next reply may start at once. */
  #isBetterLater(laterMs: number): boolean {
    const aheadMsMax = this.#isEarly ? FRAME_MS : 0;
    const mayBeLater = this.#aheadMs - laterMs >= -FRAME_MS;
    const mayBeEarlier = this.#aheadMs + FRAME_MS - laterMs <= aheadMsMax;
    return mayBeLater && (laterMs <= FRAME_MS / 2 || !mayBeEarlier);
  }
}
