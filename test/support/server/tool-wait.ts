/** How long a caller waits for the first sound after the model has asked for a tool. */
import type { LastMessage, ScriptedAnswer } from './scripted-ollama.ts';

/** From the model's wish for a slow tool to the caller's first packet with sound; an earlier one would be the tool's answer. */
export const PROMPT_BRIDGE_MS = { min: 450, max: 700 } as const;

/** The same next to other tests, which keep the processor from it; test/e2e/measured/slow-tools.test.ts holds the shorter one. */
export const BRIDGE_MS = { min: 450, max: 1500 } as const;

/** Notes when the model asks for a tool, in milliseconds since the epoch. */
export function noteToolWishes(answerTo: (last: LastMessage) => ScriptedAnswer): {
  readonly wishedAtMs: readonly number[];
  readonly answerTo: (last: LastMessage) => ScriptedAnswer;
} {
  const wishedAtMs: number[] = [];
  const answerAndNote = (last: LastMessage) => {
    const answer = answerTo(last);
    if ('tool' in answer) wishedAtMs.push(performance.timeOrigin + performance.now());
    return answer;
  };
  return { wishedAtMs, answerTo: answerAndNote };
}

/** Packets with sound that came after the model's wish for a tool: the time since then, in milliseconds. */
export function soundSince(
  wishedAtMs: number | undefined,
  voicedAtMs: readonly number[],
): readonly number[] {
  if (wishedAtMs === undefined) throw new Error('the model has asked for no tool');
  return voicedAtMs.map((atMs) => atMs - wishedAtMs).filter((sinceMs) => sinceMs > 0);
}
