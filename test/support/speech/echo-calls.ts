/** Calls on lines that give the agent's voice back to it, and what the record has of them. */
import { Listener } from '../../../examples/demo/listener.ts';
import type { PhoneLine } from '../../../examples/phone/phone-line.ts';
import { phraseSaying } from '../../speech/spoken-phrases.ts';
import { beOnTime } from './agent-call.ts';
import type { AgentLines } from './agent-lines.ts';
import { EchoPath, type EchoPathOptions } from './echo-path.ts';

/** Asked by the caller, after the greeting or over it. */
export const ECHO_QUESTION = 'What are your opening hours?';

/** Said by the agent. */
export const ECHO_GREETING =
  'This is a message of some length, so that there is time for all kinds of noises. '
    .repeat(3)
    .trim();

/** Some of the unit test's echoes: 40 to 250 ms, 15 to 30 dB. */
export const LINE_ECHOES: readonly EchoPathOptions[] = [
  { delayMs: 40, gainDb: -15, smearMs: 8 },
  { delayMs: 137, gainDb: -22, smearMs: 8 },
  { delayMs: 250, gainDb: -30, smearMs: 8 },
  { delayMs: 250, gainDb: -15, smearMs: 8 },
];

const QUIET_MS = 700;
const WAIT_MS_MAX = 60_000;

/** One call, once it is over. */
export interface EchoCall {
  /** From the first to the last packet of the agent's greeting. */
  readonly greetingMs: number;
  /** What the agent said first, as far as it was heard. */
  readonly greeting: string | undefined;
  /** What the caller said. */
  readonly said: readonly string[];
}

export interface EchoCallOptions {
  /** Of the agent; one that no other agent of the server has. */
  readonly phoneNumber: string;
  /** Null for a line without an echo. */
  readonly echoes: readonly (EchoPathOptions | null)[];
  /** Whether the caller asks while the agent greets. */
  readonly isInterrupting: boolean;
}

/** Calls an agent on each line at once, is greeted, and asks the question. */
export async function callOverEchoes(
  { server, callAgent }: AgentLines,
  { phoneNumber, echoes, isInterrupting }: EchoCallOptions,
): Promise<readonly EchoCall[]> {
  const id = await server.createAgent({ phoneNumber, greeting: ECHO_GREETING });
  await beOnTime();
  const calls = await Promise.all(
    echoes.map(async (echo) => {
      const call = await callAgent({ id, phoneNumber });
      const greetingMs = await ask(call.line, echo, isInterrupting);
      await call.hangUp();
      return { call, greetingMs };
    }),
  );
  return Promise.all(
    calls.map(async ({ call, greetingMs }) => {
      const transcript = await call.transcript();
      const ofCaller = transcript.filter(({ role }) => role === 'user');
      const said = ofCaller.map(({ text }) => text);
      return { greetingMs, greeting: transcript[0]?.text, said };
    }),
  );
}

async function ask(
  line: PhoneLine,
  echo: EchoPathOptions | null,
  isInterrupting: boolean,
): Promise<number> {
  const echoing = new EchoLine(line, echo);
  const listener = new Listener(line);
  if (isInterrupting) await listener.isSpeaking(0, 5000, WAIT_MS_MAX);
  else await listener.hasSpoken(0, QUIET_MS, WAIT_MS_MAX);
  const greetingMs = listener.lastVoicedAtMs - (listener.firstVoicedAfter(0) ?? Number.NaN);
  const phrase = phraseSaying(ECHO_QUESTION);
  echoing.speak(phrase);
  await new Promise((resolve) => setTimeout(resolve, phrase.length / 8));
  await listener.hasSpoken(listener.lastVoicedAtMs, QUIET_MS, WAIT_MS_MAX);
  return greetingMs;
}

/** A line with an echo, over which the caller can speak. */
class EchoLine {
  #own: Int16Array = new Int16Array(0);

  constructor(line: PhoneLine, echo: EchoPathOptions | null) {
    const path = echo === null ? null : new EchoPath(echo);
    line.follow((pcm) => {
      const own = this.#own.subarray(0, pcm.length);
      this.#own = this.#own.subarray(pcm.length);
      const back = path?.pass(pcm) ?? new Int16Array(pcm.length);
      return back.map((sample, index) => sample + (own[index] ?? 0));
    });
  }

  /** Speaks from the next packet on. */
  speak(pcm: Int16Array): void {
    this.#own = pcm;
  }
}
