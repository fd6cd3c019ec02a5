/** Sounds of the line that are not speech, on a real call with the voice detector that comes with Offhook. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectNoiseIsNoSpeech } from '../support/speech/agent-lines.contract.ts';
import { type AgentLines, openTelephoneLines } from '../support/speech/agent-lines.ts';
import { noiseCallSounds } from '../support/speech/non-speech.ts';

let lines: AgentLines;

beforeAll(async () => {
  lines = await openTelephoneLines();
});

afterAll(() => lines.stop());

test('Silero runs without a model installed, and is no stand-in', async () => {
  const { body } = await lines.server.api('GET', '/readyz');

  const engines = body.engines as readonly { readonly job: string; readonly engine: string }[];
  const vad = engines.find(({ job }) => job === 'vad');
  expect(vad).toMatchObject({ engine: 'silero', standIn: null });
});

test('the sounds of lines, rooms, streets and music are no turns, and do not stop the agent', async () => {
  const calls = noiseCallSounds();

  expect(calls.flat().length).toBeGreaterThanOrEqual(60);
  await expectNoiseIsNoSpeech(lines, calls);
});
