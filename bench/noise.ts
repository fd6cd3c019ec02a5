/**
 * Noise: sounds of lines, rooms, streets and music on real calls, while the agent speaks and while it listens.
 *
 * A whole server with the models that come with Offhook (Silero, the tiny recogniser); eight sounds of 3 s on each call, 21
 * calls at once. A false turn is any word that the record has a caller say who made noises alone. The sounds are made by rule,
 * not recorded. There is no peer here: it would need the same calls into a framework.
 */
import { openTelephoneLines } from '../test/support/speech/agent-lines.ts';
import { type NoiseCall, playNoise } from '../test/support/speech/noise-calls.ts';
import { noiseCallSounds } from '../test/support/speech/non-speech.ts';
import { checkTargets, markdownTable, numberArg, observe, printJson } from './lib/harness.ts';

/** `npm run bench -- noise [--runs 3] [--gate]` */
export async function run(args: readonly string[]): Promise<void> {
  const runs = numberArg(args, 'runs', 3);
  const calls: NoiseCall[] = [];
  const heldUpMs: number[] = [];
  for (let index = 0; index < runs; index += 1) {
    const { result, machine } = await observe(playAll);
    calls.push(...result.calls);
    heldUpMs.push(...result.heldUpMs);
    printJson({ bench: 'noise', falseTurns: result.falseTurns, machine });
  }
  const minutes = calls.reduce((sum, call) => sum + call.minutes, 0);
  const falseTurns = calls.flatMap((call) => call.falseTurns).length / minutes;
  const cutOff = calls.filter(({ isCutOff }) => isCutOff).length / minutes;
  const unheard = calls.filter(({ isQuestionHeard }) => !isQuestionHeard).length;
  const heldUp = Math.max(...heldUpMs);
  const row = {
    ...{ minutes, 'false turns a minute': falseTurns, 'cut off a minute': cutOff },
    ...{ 'agent held up, ms in 32 s': heldUp, 'questions not heard after it': unheard },
  };
  console.log(markdownTable([row]));
  checkTargets(args, [
    { name: 'false turns a minute', value: falseTurns, limit: 0.05, tolerance: 0.1 },
    { name: 'agent cut off, times a minute', value: cutOff, limit: 0.05, tolerance: 0.1 },
    { name: 'questions not heard', value: unheard, limit: 0, tolerance: 0 },
  ]);
}

async function playAll() {
  const lines = await openTelephoneLines();
  try {
    return await playNoise(lines, noiseCallSounds());
  } finally {
    await lines.stop();
  }
}
