/** Calls that talk, in rising numbers, until a server or the machine does not hold them. */
import { Phone } from '../../examples/phone/phone.ts';
import { memoryPerCall, type Parties, type Step, takeStep } from './capacity-step.ts';
import { numberArg, observe, printJson } from './harness.ts';
import type { Command } from './line-process.ts';
import { CallRefusedError, TalkServer, type TalkServerOptions } from './talk-server.ts';
import { runServer } from './turn-run.ts';

const REPLY_MS = 400;

/** Code that has run a few times only is slower than what a server of some days runs. */
const WARM_UP = { calls: 50, seconds: 10 };

/** How often a step is tried that the machine did not carry: something else may have wanted it. */
const TRIES_MAX = 3;

export interface Ramp {
  readonly steps: readonly Step[];
  /** The server refused calls, and so there is no step after the last. */
  readonly isRefused: boolean;
  /** Of the fullest step that was held; NaN when there was none. */
  readonly mbPerCall: number;
}

/** Takes `--from`, `--step`, `--to` and `--seconds`. */
export async function climb(caller: Command, args: readonly string[]): Promise<Ramp> {
  const to = numberArg(args, 'to', 400);
  // One more for who rings meanwhile.
  const server = await startWarm(caller, { callsMax: Math.max(to, WARM_UP.calls) + 1 });
  const phone = new Phone();
  await phone.start();
  try {
    const { steps, isRefused } = await takeSteps({ server, caller, phone }, args);
    const calls = heldOf(steps)?.calls;
    const seconds = numberArg(args, 'seconds', 10);
    const mbPerCall =
      calls === undefined
        ? Number.NaN
        : await memoryPerCall({ server, caller }, { calls, seconds }).catch(noteRefusal);
    return { steps, isRefused, mbPerCall };
  } finally {
    await phone.stop();
    await server.stop();
  }
}

async function takeSteps(
  parties: Parties,
  args: readonly string[],
): Promise<Pick<Ramp, 'steps' | 'isRefused'>> {
  const by = numberArg(args, 'step', 50);
  const to = numberArg(args, 'to', 400);
  const steps: Step[] = [];
  try {
    for (let calls = numberArg(args, 'from', 50); calls <= to; calls += by) {
      const step = await takeOnQuietMachine(parties, { calls, args });
      steps.push(step);
      if (step.limit !== undefined) break;
    }
  } catch (error) {
    noteRefusal(error);
    return { steps, isRefused: true };
  }
  return { steps, isRefused: false };
}

/** A server that refuses calls ends a part of the measurement, not all of it. @returns NaN, as there is no figure. */
function noteRefusal(error: unknown): number {
  if (!(error instanceof CallRefusedError)) throw error;
  console.log(error.message);
  return Number.NaN;
}

async function takeOnQuietMachine(
  parties: Parties,
  { calls, args }: { readonly calls: number; readonly args: readonly string[] },
): Promise<Step> {
  const seconds = numberArg(args, 'seconds', 10);
  for (let tries = 1; ; tries += 1) {
    const { result, machine } = await observe(() => takeStep(parties, { calls, seconds }));
    const { replies, stops, resumes, voices, ...figures } = result;
    printJson({ bench: 'capacity', turns: replies.length, ...figures, machine });
    if (!result.isVoid || tries === TRIES_MAX) return result;
  }
}

/** The fullest step that the server held. */
export function heldOf(steps: readonly Step[]): Step | undefined {
  return steps.findLast(({ limit }) => limit === undefined);
}

/** A server that has taken calls for a while. */
export async function startWarm(
  caller: Command,
  options: Omit<TalkServerOptions, 'replyMs'>,
): Promise<TalkServer> {
  const server = await TalkServer.start({ replyMs: REPLY_MS, ...options });
  try {
    await runServer(server, { caller, ...WARM_UP, behaviour: 'turns' });
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}
