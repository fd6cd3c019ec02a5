/** Sounds without speech, and the agent's echo, on calls from a browser (WebRTC, with werift as the browser). */
import { afterAll, beforeAll, test } from 'vitest';
import {
  expectEchoHidesNoCaller,
  expectEchoIsNoCaller,
  expectNoiseIsNoSpeech,
} from '../support/speech/agent-lines.contract.ts';
import { type AgentLines, openBrowserLines } from '../support/speech/agent-lines.ts';
import { LINE_ECHOES } from '../support/speech/echo-calls.ts';
import { noiseCallSounds } from '../support/speech/non-speech.ts';

/** Twice as many calls, and a quiet one: no more than ten browsers may call at once. */
const LISTS = 2;

let lines: AgentLines;

beforeAll(async () => {
  lines = await openBrowserLines();
});

afterAll(() => lines.stop());

test('the sounds of lines, rooms, streets and music are no turns, and do not stop the agent', async () => {
  await expectNoiseIsNoSpeech(lines, noiseCallSounds().slice(0, LISTS));
});

test('the echo of loudspeakers that a browser leaves neither stops the agent nor speaks to it', async () => {
  await expectEchoIsNoCaller(lines, LINE_ECHOES.slice(1, 2));
});

test('a caller whose browser leaves an echo can interrupt the agent', async () => {
  await expectEchoHidesNoCaller(lines);
});
