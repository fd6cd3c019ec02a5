/** How long a caller waits for the first sound after the model has called a tool. */
import { expect, onTestFinished } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import type { LastMessage, ScriptedAnswer } from './scripted-ollama.ts';
import type { TestServer } from './server.ts';

/** From the model's call of a slow tool to the caller's first packet with sound; an earlier one would be the tool's answer. */
export const BRIDGE_MS = { min: 450, max: 700 } as const;

/** The same next to other tests, which keep the processor from it; test/e2e/measured/slow-tools.test.ts holds the shorter one. */
export const BUSY_BRIDGE_MS = { min: 450, max: 1500 } as const;

/** Notes when the model calls a tool, in milliseconds since the epoch. */
export function noteToolCalls(answerTo: (last: LastMessage) => ScriptedAnswer): {
  readonly toolCalledAtMs: readonly number[];
  readonly answerTo: (last: LastMessage) => ScriptedAnswer;
} {
  const toolCalledAtMs: number[] = [];
  const answerAndNote = (last: LastMessage) => {
    const answer = answerTo(last);
    if ('tool' in answer) toolCalledAtMs.push(performance.timeOrigin + performance.now());
    return answer;
  };
  return { toolCalledAtMs, answerTo: answerAndNote };
}

/** Rings until the agent has said its greeting `Hello.`, and notes the packets with sound from then on and before. */
export async function callAgent(
  server: TestServer,
  called: string,
  options: ConstructorParameters<typeof Phone>[0] = {},
) {
  const phone = new Phone(options);
  await phone.start();
  onTestFinished(() => phone.stop());
  const call = await phone.call(`sip:${called}@127.0.0.1:${server.sipPort}`);
  const id = await server.callInProgress();
  const voicedAtMs: number[] = [];
  call.line.onPacket(({ atMs, isVoiced }) => {
    if (isVoiced) voicedAtMs.push(atMs);
  });
  /** The transcript as JSON. */
  const words = async () =>
    JSON.stringify((await server.api('GET', `/api/calls/${id}`)).body.transcript ?? []);
  await expect.poll(words, { timeout: 15_000 }).toContain('Hello.');
  return { call, id, voicedAtMs, words };
}

/** Packets with sound that came after the model called a tool: the time since then, in milliseconds. */
export function soundSince(
  toolCalledAtMs: number | undefined,
  voicedAtMs: readonly number[],
): readonly number[] {
  if (toolCalledAtMs === undefined) throw new Error('the model has called no tool');
  return voicedAtMs.map((atMs) => atMs - toolCalledAtMs).filter((sinceMs) => sinceMs > 0);
}
