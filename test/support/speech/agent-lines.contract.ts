/** What sounds without speech, and the agent's own echo, may do on any kind of line: almost nothing. */
import { expect } from 'vitest';
import type { AgentLines } from './agent-lines.ts';
import { callOverEchoes, ECHO_GREETING, ECHO_QUESTION } from './echo-calls.ts';
import type { EchoPathOptions } from './echo-path.ts';
import { type LineSound, playNoise } from './noise-calls.ts';

/** Each pause of the agent's voice is 300 ms; after three in a row sounds alone do not pause it. */
const NOISE_HOLDS_UP_MS_MAX = 1500;

/** The target is none in 95 % of minutes: of ten minutes, one may have one. */
const MINUTES_A_MISTAKE = 10;

/** The echo's first tenth of a second may pause the agent, for 300 ms. */
const ECHO_HOLDS_UP_MS_MAX = 700;

/**
 * Sounds are no turns, do not stop the agent, and leave it able to hear a question. Each list is played on two calls: to an
 * agent that listens, and to one that speaks.
 */
export async function expectNoiseIsNoSpeech(
  lines: AgentLines,
  sounds: readonly (readonly LineSound[])[],
): Promise<void> {
  const { calls, minutes, falseTurns, heldUpMs } = await playNoise(lines, sounds);

  const mistakesMax = Math.floor(minutes / MINUTES_A_MISTAKE);
  expect(minutes).toBeGreaterThan(sounds.length);
  expect(falseTurns.length, JSON.stringify(falseTurns)).toBeLessThanOrEqual(mistakesMax);
  expect(calls.filter(({ isCutOff }) => isCutOff).length).toBeLessThanOrEqual(mistakesMax);
  expect(calls.filter(({ isQuestionHeard }) => !isQuestionHeard)).toEqual([]);
  expect(Math.max(...heldUpMs)).toBeLessThan(NOISE_HOLDS_UP_MS_MAX);
}

/** An echo neither stops the agent nor speaks to it. */
export async function expectEchoIsNoCaller(
  lines: AgentLines,
  echoes: readonly EchoPathOptions[],
): Promise<void> {
  const [quiet, ...calls] = await callOverEchoes(lines, {
    phoneNumber: '+12025550125',
    echoes: [null, ...echoes],
    isInterrupting: false,
  });

  const heard = { greeting: ECHO_GREETING, said: [ECHO_QUESTION] };
  expect(quiet).toMatchObject(heard);
  expect(calls).toMatchObject(echoes.map(() => heard));
  const heldUpMs = calls.map(({ greetingMs }) => greetingMs - (quiet?.greetingMs ?? Number.NaN));
  expect(Math.max(...heldUpMs)).toBeLessThan(ECHO_HOLDS_UP_MS_MAX);
}

/** On a line with an echo the caller can interrupt the agent. */
export async function expectEchoHidesNoCaller(lines: AgentLines): Promise<void> {
  const [call] = await callOverEchoes(lines, {
    phoneNumber: '+12025550126',
    echoes: [{ delayMs: 100, gainDb: -20, smearMs: 8 }],
    isInterrupting: true,
  });

  expect(call?.said).toEqual([ECHO_QUESTION]);
  expect(call?.greeting).not.toBe(ECHO_GREETING);
}
