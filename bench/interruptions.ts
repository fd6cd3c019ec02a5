/**
 * Interruptions: whose floor it is when the caller speaks over the agent, and how often that is judged wrongly.
 *
 * Real calls over SIP and RTP to a whole server with the recogniser that comes with Offhook: backchannels ("mm-hm", "genau",
 * "हाँ") of ten languages, which must leave the agent its floor; words of English and Spanish that want it, which must take
 * it; and sounds that are no speech. Once with the detector that comes with Offhook (Silero), once with the tiny one of the
 * repository. Espeak-ng says all of it, by four voices and at levels from 8 dB below the caller's usual one to 3 dB above;
 * the sounds are made by rule. The recogniser knows words of English and Spanish only, and makes others of the rest: that is
 * what a recogniser does with a hum. There is no peer here: it would need the same calls into a framework.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../test/support/server/server.ts';
import { openTelephoneLines } from '../test/support/speech/agent-lines.ts';
import { backchannelCalls, interruptionCalls } from '../test/support/speech/backchannels.ts';
import { playNoise } from '../test/support/speech/noise-calls.ts';
import { noiseCallSounds } from '../test/support/speech/non-speech.ts';
import {
  type OverlapCall,
  type OverlapOutcome,
  overlapEnvironment,
  playOverlaps,
} from '../test/support/speech/overlap-calls.ts';
import { checkTargets, markdownTable, numberArg, observe, printJson } from './lib/harness.ts';

const DETECTORS = {
  'Silero, as shipped': join(tmpdir(), 'no-models-here'),
  'tiny, of the repository': 'models/tiny',
} as const;

/** Each word by so many voices. */
const ROUNDS = 2;

type Detector = keyof typeof DETECTORS;

interface Measured {
  readonly backchannels: readonly OverlapOutcome[];
  readonly interruptions: readonly OverlapOutcome[];
  readonly soundMinutes: number;
  /** Calls with sounds on which the agent was cut off. */
  readonly cutOff: number;
}

interface Plan {
  readonly spoken: readonly [readonly OverlapCall[], readonly OverlapCall[]];
  readonly sounds: ReturnType<typeof noiseCallSounds>;
  readonly atOnce: number;
}

/** `npm run bench -- interruptions [--at-once 6] [--calls N] [--gate]`: so many calls at once; of each kind the first N. */
export async function run(args: readonly string[]): Promise<void> {
  const atOnce = numberArg(args, 'at-once', 6);
  const calls = numberArg(args, 'calls', Number.POSITIVE_INFINITY);
  const spoken = [
    (await backchannelCalls(ROUNDS)).slice(0, calls),
    (await interruptionCalls(ROUNDS)).slice(0, calls),
  ] as const;
  const sounds = noiseCallSounds().slice(0, calls);
  const rows = [];
  const targets = [];
  for (const [detector, modelsDir] of Object.entries(DETECTORS) as [Detector, string][]) {
    const { result, machine } = await observe(() => measure(modelsDir, { spoken, sounds, atOnce }));
    printJson({ bench: 'interruptions', detector, wrong: wrongOf(result), machine });
    const { backchannels, interruptions, soundMinutes, cutOff } = result;
    const taken = backchannels.filter(({ isFloorTaken }) => isFloorTaken).length;
    const missed = interruptions.filter(({ isFloorTaken }) => !isFloorTaken).length;
    const hungUp = backchannels.filter(({ isOver }) => isOver).length;
    rows.push({
      detector,
      'backchannels that took the floor': `${taken} of ${backchannels.length}`,
      'of them hung up on': hungUp,
      'interruptions missed': `${missed} of ${interruptions.length}`,
      'cut off by sounds': `${cutOff} in ${soundMinutes.toFixed(1)} min`,
    });
    if (detector !== 'Silero, as shipped') continue;
    targets.push(
      share('backchannels that took the floor, %', taken, backchannels.length, 5),
      share('interruptions missed, %', missed, interruptions.length, 10),
      { name: 'backchannels that were hung up on', value: hungUp, limit: 0, tolerance: 0 },
      {
        name: 'cut off by sounds, times a minute',
        value: cutOff / soundMinutes,
        limit: 0.2,
        tolerance: 0,
      },
    );
  }
  console.log(markdownTable(rows));
  checkTargets(args, targets);
}

function share(name: string, count: number, of: number, limit: number) {
  return { name, value: (100 * count) / of, limit, tolerance: 0.1 };
}

/** What was judged wrongly, and what the recogniser made of it. */
function wrongOf({ backchannels, interruptions }: Measured) {
  const wrong = [
    ...backchannels.filter(({ isFloorTaken }) => isFloorTaken),
    ...interruptions.filter(({ isFloorTaken }) => !isFloorTaken),
  ];
  return wrong.map(({ language, said, heard }) => ({ language, said, heard }));
}

async function measure(
  modelsDir: string,
  { spoken: [backchannels, interruptions], sounds, atOnce }: Plan,
): Promise<Measured> {
  const environment = { ...overlapEnvironment(), MODELS_DIR: modelsDir };
  const server = await (await startServer({ environment })).ready();
  const outcomes = await playOverlaps(server, [...backchannels, ...interruptions], atOnce).finally(
    () => server.stop(),
  );
  const count = backchannels.flatMap(({ overlaps }) => overlaps).length;
  return {
    backchannels: outcomes.slice(0, count),
    interruptions: outcomes.slice(count),
    ...(await hearSounds(modelsDir, sounds)),
  };
}

/** The sounds' own server: its agents may say a sentence of any length. */
async function hearSounds(modelsDir: string, sounds: Plan['sounds']) {
  const lines = await openTelephoneLines({ MODELS_DIR: modelsDir });
  try {
    const { calls, minutes } = await playNoise(lines, sounds);
    return { soundMinutes: minutes, cutOff: calls.filter(({ isCutOff }) => isCutOff).length };
  } finally {
    await lines.stop();
  }
}
