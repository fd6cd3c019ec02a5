/** Lines that give the agent's voice back to it: it neither stops for its echo nor takes it for the caller. */
import { afterAll, beforeAll, test } from 'vitest';
import {
  expectEchoHidesNoCaller,
  expectEchoIsNoCaller,
} from '../support/speech/agent-lines.contract.ts';
import { type AgentLines, openTelephoneLines } from '../support/speech/agent-lines.ts';
import { LINE_ECHOES } from '../support/speech/echo-calls.ts';

let lines: AgentLines;

beforeAll(async () => {
  lines = await openTelephoneLines();
});

afterAll(() => lines.stop());

test('an echo after 40 to 250 ms, 15 to 30 dB below the agent, neither stops it nor speaks to it', async () => {
  await expectEchoIsNoCaller(lines, LINE_ECHOES);
});

test('a caller on a line with an echo can interrupt the agent', async () => {
  await expectEchoHidesNoCaller(lines);
});
