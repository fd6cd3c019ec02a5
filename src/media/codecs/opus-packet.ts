/** What the first bytes of an Opus packet say, in samples of 8 kHz; pure */
import { LINE_RATE_HZ } from '../audio-stream.ts';

/** Opus counts time in steps of 2.5 ms. */
export const OPUS_STEP_SAMPLES = LINE_RATE_HZ / 400;

/** Longest packet: 120 ms. */
const STEPS_MAX = 48;

/** Steps of a frame by configuration: SILK, hybrid, CELT. */
const SILK_STEPS = [4, 8, 16, 24];
const HYBRID_STEPS = [4, 8];
const CELT_STEPS = [1, 2, 4, 8];

/**
 * Length of a packet's sound; undefined where it is no Opus.
 *
 *      0 1 2 3 4 5 6 7
 *     +-+-+-+-+-+-+-+-+
 *     | config  |s| c |   c: 1 frame, 2, 2, or the number in the next byte
 *     +-+-+-+-+-+-+-+-+
 *
 * @see RFC 6716 section 3.1
 */
export function opusSamplesIn([first, second = 0]: Uint8Array): number | undefined {
  if (first === undefined) return undefined;
  const count = [1, 2, 2, second & 0x3f][first & 3] as number;
  const steps = count * stepsOf(first >> 3);
  return steps > 0 && steps <= STEPS_MAX ? steps * OPUS_STEP_SAMPLES : undefined;
}

function stepsOf(config: number): number {
  if (config < 12) return SILK_STEPS[config & 3] as number;
  return config < 16 ? (HYBRID_STEPS[config & 1] as number) : (CELT_STEPS[config & 3] as number);
}

/** A packet of that length without sound, as discontinuous transmission has them: narrowband SILK with an empty frame. */
export function silentOpus(samples: number): Uint8Array {
  return Uint8Array.of(Math.max(0, SILK_STEPS.indexOf(samples / OPUS_STEP_SAMPLES)) << 3);
}
