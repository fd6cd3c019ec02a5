/** How late the packets of calls came and how many did not, as callers count them. */
import { percentile } from './harness.ts';

const FRAME_MS = 20;
const SEQUENCES = 2 ** 16;

interface Spurt {
  /** Of its first packet. */
  readonly sequence: number;
  readonly atMs: number;
  readonly isVoiced: boolean;
}

/**
 * One call's. Lateness is that against the earliest packet of the talk spurt, which begins with a marker, or of the
 * silence after it: at both an agent may move its beat.
 */
export class HeardPackets {
  readonly #counts: (atMs: number) => boolean;
  readonly latenessMs: number[] = [];
  lost = 0;
  /** When the first voice was heard, in ms since 1970; 0 before. */
  voicedAtMs = 0;
  #offsetsMs: number[] = [];
  #last: number | undefined;
  #spurt: Spurt = { sequence: 0, atMs: 0, isVoiced: false };

  /** @param counts whether a moment belongs to the measured time. */
  constructor(counts: (atMs: number) => boolean) {
    this.#counts = counts;
  }

  hear(datagram: Buffer, atMs: number, isVoiced: boolean): void {
    if (isVoiced && this.voicedAtMs === 0) {
      this.voicedAtMs = performance.timeOrigin + performance.now();
    }
    if (!this.#counts(atMs)) return;
    const sequence = datagram.readUInt16BE(2);
    const step = stepBetween(this.#last ?? sequence - 1, sequence);
    this.lost += step > 0 ? step - 1 : -1;
    // It had only been overtaken.
    if (step <= 0) return;
    const hasMarker = ((datagram[1] ?? 0) & 0x80) !== 0;
    const isOver = hasMarker || (this.#spurt.isVoiced && !isVoiced);
    if (isOver || this.#last === undefined) this.#beginSpurt({ sequence, atMs, isVoiced });
    const dueMs = this.#spurt.atMs + FRAME_MS * stepBetween(this.#spurt.sequence, sequence);
    this.#offsetsMs.push(atMs - dueMs);
    this.#last = sequence;
  }

  endSpurt(): void {
    const least = this.#offsetsMs.reduce((one, other) => Math.min(one, other), Infinity);
    for (const offsetMs of this.#offsetsMs) this.latenessMs.push(offsetMs - least);
    this.#offsetsMs = [];
  }

  #beginSpurt(first: Spurt): void {
    this.endSpurt();
    this.#spurt = first;
  }
}

/** What `turn-caller.c` says of the packets of all calls. */
export function packetReport(calls: readonly HeardPackets[]) {
  for (const call of calls) call.endSpurt();
  const latenessMs = calls.flatMap((call) => call.latenessMs);
  return {
    packets: latenessMs.length,
    lost: calls.reduce((sum, { lost }) => sum + lost, 0),
    packetsLateP99Ms: percentile(latenessMs, 99),
    voices: calls.map(({ voicedAtMs }) => voicedAtMs),
  };
}

/** From one sequence number to another, backwards where that is shorter. */
function stepBetween(from: number, to: number): number {
  const step = (to - from + SEQUENCES) % SEQUENCES;
  return step < SEQUENCES / 2 ? step : step - SEQUENCES;
}
