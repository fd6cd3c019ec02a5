/** One call that lasts until the agent is heard. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Phone } from '../../examples/phone/phone.ts';
import { systemClock } from '../../src/lib/clock.ts';

export interface FirstAudio {
  /** From INVITE to 200, its arrival at the caller. */
  readonly answeredMs: number;
  /** From there, where the ACK leaves, to the first packet with the agent's voice. */
  readonly voiceMs: number;
}

const VOICE_MS_MAX = 3000;

/** @throws {Error} when the call is refused, or nothing is heard within 3 s. */
export async function callUntilVoice(phone: Phone, uri: string): Promise<FirstAudio> {
  const invitedAtMs = systemClock.nowMs();
  const { invite, answered } = await phone.dial(uri);
  await invite.outcome;
  const answeredAtMs = systemClock.nowMs();
  const call = await answered;
  const untilMs = answeredAtMs + VOICE_MS_MAX;
  let first = call.line.heard.find(({ isVoiced }) => isVoiced);
  while (first === undefined && systemClock.nowMs() < untilMs) {
    await wait(5);
    first = call.line.heard.find(({ isVoiced }) => isVoiced);
  }
  await call.hangUp();
  if (first === undefined) throw new Error('Cannot measure: the greeting was not heard');
  return { answeredMs: answeredAtMs - invitedAtMs, voiceMs: first.atMs - answeredAtMs };
}
