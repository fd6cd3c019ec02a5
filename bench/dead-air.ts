/**
 * Dead air: how long the line is silent when a language model fails in the middle of a call.
 *
 * Each fault is a call of its own over SIP and RTP to a whole server with default settings; the model is an HTTP server that
 * speaks Ollama's protocol and fails as the row says. No other model stands behind it. The times are the caller's: from
 * their last voiced packet to the agent's first, and between two of the agent's. There is no peer: frameworks leave this
 * to their users.
 */
import { hearModelFaults } from '../test/support/server/model-fault-calls.ts';
import { checkTargets, markdownTable, observe, printJson } from './lib/harness.ts';

/** `npm run bench -- dead-air [--gate]` */
export async function run(args: readonly string[]): Promise<void> {
  const { result: heard, machine } = await observe(hearModelFaults);
  console.log(
    markdownTable(
      heard.map(({ fault, firstMs, longestMs, isNextAnswered }) => ({
        'the model': fault,
        'first words ms': Math.round(firstMs),
        'longest silence ms': Math.round(longestMs),
        'next question answered': isNextAnswered ? 'yes' : 'no',
      })),
    ),
  );
  const firstMs = Math.max(...heard.map((each) => each.firstMs));
  const longestMs = Math.max(...heard.map((each) => each.longestMs));
  const broken = heard.filter(({ isNextAnswered }) => !isNextAnswered).length;
  printJson({ bench: 'dead-air', faults: heard.length, firstMs, longestMs, broken, machine });
  checkTargets(args, [
    { name: 'until something is said, ms', value: firstMs, limit: 2000, tolerance: 0.1 },
    { name: 'longest silence of a turn, ms', value: longestMs, limit: 2500, tolerance: 0.1 },
    { name: 'calls that did not go on', value: broken, limit: 0, tolerance: 0 },
  ]);
}
