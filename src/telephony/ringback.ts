/** Ringing tone for a caller who is being transferred, in the cadence of the called country; pure */
import { LINE_RATE_HZ } from '../media/audio-stream.ts';

/** One period of a ringing tone: its frequencies, and how long it sounds and pauses, in turns. */
interface Cadence {
  readonly hz: readonly number[];
  readonly turnsMs: readonly number[];
}

/** Cadences by the beginning of the number. @see ITU-T E.180 supplement 2 */
const CADENCES: readonly (readonly [string, Cadence])[] = [
  ['+1', { hz: [440, 480], turnsMs: [2_000, 4_000] }],
  ['+44', { hz: [400, 450], turnsMs: [400, 200, 400, 2_000] }],
  ['+61', { hz: [400, 450], turnsMs: [400, 200, 400, 2_000] }],
  ['+81', { hz: [400], turnsMs: [1_000, 2_000] }],
];

/** Most of Europe, and much of the rest of the world. */
const USUAL: Cadence = { hz: [425], turnsMs: [1_000, 4_000] };

/** Peak of all frequencies together: one alone is at -13 dBm0, two are at -19 dBm0 each. */
const PEAK = 5_000;

/** One period of the tone for a number, to be repeated: 8 kHz, mono. */
export function ringbackFor(number: string): Int16Array {
  const [, cadence = USUAL] = CADENCES.find(([start]) => number.startsWith(start)) ?? [];
  const { hz, turnsMs } = cadence;
  const pcm = new Int16Array(samplesOf(turnsMs.reduce((sum, turnMs) => sum + turnMs, 0)));
  let at = 0;
  for (const [turn, turnMs] of turnsMs.entries()) {
    const end = at + samplesOf(turnMs);
    if (turn % 2 === 0) sound(pcm.subarray(at, end), hz);
    at = end;
  }
  return pcm;
}

function sound(pcm: Int16Array, hz: readonly number[]): void {
  for (let index = 0; index < pcm.length; index += 1) {
    const waves = hz.map((each) => Math.sin((2 * Math.PI * each * index) / LINE_RATE_HZ));
    pcm[index] = (PEAK / hz.length) * waves.reduce((sum, wave) => sum + wave, 0);
  }
}

/** Samples of that much audio on the line. */
export function samplesOf(lengthMs: number): number {
  return (lengthMs * LINE_RATE_HZ) / 1000;
}
