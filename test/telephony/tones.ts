/** Detects the tones that a party receives, by their level relative to the rest. */
import { expect } from 'vitest';
import type { PhoneLine } from '../../examples/phone/phone-line.ts';

/** So many packets of 20 ms are looked at: long enough to tell tones 50 Hz apart. */
const WINDOW = 8;

/** What goes through a lossy codec is not pure any more. */
const SHARE_MIN = 0.5;

/** Share of the sound's power that is at one frequency, from 0 to 1; 0 in silence. Goertzel's algorithm. */
export function shareOf(pcm: Int16Array, hz: number): number {
  const factor = 2 * Math.cos((2 * Math.PI * hz) / 8000);
  let [before, last, power] = [0, 0, 0];
  for (const sample of pcm) {
    [before, last] = [last, sample + factor * last - before];
    power += sample * sample;
  }
  // Below that is the noise of a codec.
  if (power < pcm.length * 200 * 200) return 0;
  const atHz = before * before + last * last - factor * before * last;
  return (2 * atHz) / (pcm.length * power);
}

/** Whether a line hears the tone now. */
export function hears(line: PhoneLine, hz: number): boolean {
  const pcm = line.heard.slice(-WINDOW).flatMap((packet) => [...packet.pcm]);
  return shareOf(Int16Array.from(pcm), hz) > SHARE_MIN;
}

/** Resolves when each of the lines hears its tone, all at the same time. */
export async function everyoneHears(...pairs: readonly (readonly [PhoneLine, number])[]) {
  const whoHears = () => pairs.map(([line, hz]) => hears(line, hz));
  await expect.poll(whoHears, { timeout: 5_000, interval: 20 }).toEqual(pairs.map(() => true));
}
