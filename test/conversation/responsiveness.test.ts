/** An agent's `responsiveness`, from the agent to the silence that the turn machine waits for. */
import { expect, test } from 'vitest';
import { briefOf } from '../../src/call/session/call-parts.ts';
import { rulesFor } from '../../src/conversation/turn/turn-rules.ts';
import type { Responsiveness } from '../../src/domain/agent/agent.ts';
import { NO_VARIABLES } from '../../src/domain/agent/prompt-variables.ts';
import { Toolbox } from '../../src/tool/toolbox.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { openTurns, say, waitsFor } from './support/turns.ts';

/** The wait after the caller has said that. */
function waitAfter(text: string, responsiveness: Responsiveness) {
  const agent = buildAgent({ responsiveness });
  const clock = new FakeClock();
  const tools = new Toolbox({ tools: [], clock });
  const rules = rulesFor({
    brief: briefOf(agent, { ...NO_VARIABLES, overrides: {}, direction: 'inbound' }),
    tools,
    clock,
  });
  return waitsFor('end-of-turn', say(openTurns(rules), text, 1000, 2000));
}

test.each([
  ['fast', 150, 300, 900],
  ['balanced', 250, 750, 1200],
  ['patient', 550, 1200, 1800],
] as const)('a %s agent waits after a question, a statement and words that break off', (responsiveness, ...waitsMs) => {
  const texts = ['When are you open?', 'I need an appointment.', 'I need an appointment and'];

  expect(texts.map((text) => waitAfter(text, responsiveness))).toEqual(waitsMs.map((ms) => [ms]));
});
