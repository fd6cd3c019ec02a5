/** Three parties, each with a tone of its own: which party hears which tones. */
import { expect } from 'vitest';
import type { PhoneCall } from '../../examples/phone/phone-call.ts';
import type { PhoneLine } from '../../examples/phone/phone-line.ts';
import type { AudioStream } from '../../src/media/audio-stream.ts';
import type { Leg } from '../../src/telephony/carrier.ts';
import { say, tone } from './plane.ts';
import { shareOf } from './tones.ts';

/** Tones that are far apart: the caller's, the colleague's, and the agent's. */
export const TONES = { caller: 300, colleague: 1_000, agent: 1_900 } as const;
type Party = keyof typeof TONES;

/** Two tones at once have half of the power each. */
const SHARE_MIN = 0.2;

/** Frames of 20 ms that are looked at. */
const WINDOW = 8;

/** Whose tones are in the sound. */
function partiesIn(pcm: Int16Array): Party[] {
  const parties = Object.keys(TONES) as Party[];
  return parties.filter((party) => shareOf(pcm, TONES[party]) > SHARE_MIN);
}

/** Whose tones are in the newest of what a telephone has heard. */
export const heardBy = (line: PhoneLine) =>
  partiesIn(Int16Array.from(line.heard.slice(-WINDOW).flatMap(({ pcm }) => [...pcm])));

/** Likewise of what an agent has heard. */
export const heardByAgent = ({ heard }: AudioStream) =>
  partiesIn(heard.read(heard.end - WINDOW * 160));

/** A caller, a colleague, and the leg whose agent is with them. */
export interface ThreeWayWorld {
  readonly call: PhoneCall;
  readonly theirs: PhoneCall;
  readonly leg: Leg;
}

/** Resolves when each hears exactly these, all at the same time. */
export async function whoHears(
  { call, theirs, leg }: ThreeWayWorld,
  expected: Readonly<Record<Party, readonly Party[]>>,
) {
  const heard = () => ({
    caller: heardBy(call.line),
    colleague: heardBy(theirs.line),
    agent: heardByAgent(leg.audio),
  });
  await expect.poll(heard, { timeout: 5_000, interval: 20 }).toEqual(expected);
}

/** What each hears when all speak: the other two. */
export const EVERYBODY = {
  caller: ['colleague', 'agent'],
  colleague: ['caller', 'agent'],
  agent: ['caller', 'colleague'],
} as const;

/** All three speak at once for so long. */
export function allSpeak({ call, theirs, leg }: ThreeWayWorld, durationMs = 5_000): void {
  void call.line.speak(tone(TONES.caller, durationMs));
  void theirs.line.speak(tone(TONES.colleague, durationMs));
  say(leg.audio, TONES.agent, durationMs);
}
