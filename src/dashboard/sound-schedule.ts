/** When each piece of live sound is to be heard, so that uneven arrival makes no gaps; pure */

/** How far ahead of the loudspeaker the first piece is put: what may come late without being missed. */
const LEAD_SECONDS = 0.25;

/** Sound that has piled up beyond this is passed over, so that the listener stays near the present. */
const AHEAD_SECONDS_MAX = 1.5;

/** Lays pieces end to end; begins anew, a little ahead, after a gap. Keeps state: one a listener. */
export class SoundSchedule {
  #endsAt = 0;

  /**
   * @param now the loudspeaker's clock, in seconds.
   * @returns the instant at which the piece begins, by the same clock; undefined when it is to be passed over.
   */
  place(now: number, durationSeconds: number): number | undefined {
    if (this.#endsAt - now > AHEAD_SECONDS_MAX) return undefined;
    const startsAt = this.#endsAt > now ? this.#endsAt : now + LEAD_SECONDS;
    this.#endsAt = startsAt + durationSeconds;
    return startsAt;
  }
}
