/** Calls with sounds on the caller's line: what the agent takes for a turn, what stops it, how much its voice is held up. */
import { Listener } from '../../../examples/demo/listener.ts';
import { phraseSaying } from '../../speech/spoken-phrases.ts';
import { type AgentCall, beOnTime } from './agent-call.ts';
import type { AgentLines } from './agent-lines.ts';

/** Said by the caller at the end of a call: the agent must still hear it. */
const QUESTION = 'What are your opening hours?';

/** Length of one sound and the quiet after it. */
const SOUND_SECONDS = 3;
const GAP_SECONDS = 1;

const SENTENCE =
  'This is a message of some length, so that there is time for all kinds of noises. ';

/** Longer than the sounds of a call. */
const SPEECH = SENTENCE.repeat(8).trim();

/** The record dates a voice up to so much before the telephone's own first packet of it. */
const LEAD_MS = 200;

const QUIET_MS = 700;
const WAIT_MS_MAX = 90_000;
const LINE_RATE_HZ = 8000;

/** A sound on the caller's line. */
export interface LineSound {
  readonly name: string;
  /** 8 kHz, mono. */
  make(seconds: number): Int16Array;
}

/** Words that the record has of a caller who said none. */
export interface FalseTurn {
  readonly sound: string;
  readonly text: string;
  readonly confidence: number;
}

/** One call and its sounds. */
export interface NoiseCall {
  readonly falseTurns: readonly FalseTurn[];
  readonly isQuestionHeard: boolean;
  /** Whether the agent was cut off. */
  readonly isCutOff: boolean;
  /** From the first to the last packet of the agent's greeting. */
  readonly greetingMs: number;
  /** Time with sounds, their gaps included. */
  readonly minutes: number;
}

/** A sound and the quiet after it, 8 kHz. */
interface Recorded {
  readonly name: string;
  readonly pcm: Int16Array;
}

/** What is known of a call before its record. */
interface Played {
  readonly call: AgentCall;
  readonly agent: keyof typeof AGENTS;
  readonly greetingMs: number;
  readonly began: readonly { readonly name: string; readonly at: Date }[];
}

/** What sounds did to all calls of a server. */
export interface NoiseFindings {
  readonly calls: readonly NoiseCall[];
  readonly minutes: number;
  readonly falseTurns: readonly FalseTurn[];
  /** For each call on which the agent spoke: how much longer its greeting took than on a quiet line. */
  readonly heldUpMs: readonly number[];
}

/** One agent speaks while there are sounds, the other listens. */
const AGENTS = {
  speaks: { phoneNumber: '+12025550123', greeting: SPEECH },
  listens: { phoneNumber: '+12025550124', greeting: 'Hello.' },
} as const;

/** Plays each list of sounds on two calls, to an agent that listens and to one that speaks, all at once. */
export async function playNoise(
  { server, callAgent }: AgentLines,
  sounds: readonly (readonly LineSound[])[],
): Promise<NoiseFindings> {
  const recorded = sounds.map((list) =>
    list.map(({ name, make }) => ({ name, pcm: withGap(make(SOUND_SECONDS)) })),
  );
  await beOnTime();
  const play = async (kind: keyof typeof AGENTS, lists: readonly (readonly Recorded[])[]) => {
    const agent = AGENTS[kind];
    const id = await server.createAgent({ ...agent, settings: { silenceTimeoutSeconds: 120 } });
    return Promise.all(lists.map((list) => playOn(() => callAgent({ ...agent, id }), kind, list)));
  };
  const played = await Promise.all([play('listens', recorded), play('speaks', [[], ...recorded])]);
  const [listens = [], [quiet, ...speaks] = []] = await Promise.all(
    played.map((calls) => Promise.all(calls.map(judged))),
  );
  const calls = [...listens, ...speaks];
  return {
    calls,
    minutes: calls.reduce((sum, call) => sum + call.minutes, 0),
    falseTurns: calls.flatMap((call) => call.falseTurns),
    heldUpMs: speaks.map(({ greetingMs }) => greetingMs - (quiet?.greetingMs ?? Number.NaN)),
  };
}

async function judged({ call, agent, greetingMs, began }: Played): Promise<NoiseCall> {
  const entries = await call.transcript();
  const said = entries.filter(({ role }) => role === 'user');
  return {
    falseTurns: said
      .filter(({ text }) => text !== QUESTION)
      .map(({ text, confidence = 1, timestamp }) => {
        const sound = began.findLast(
          (each) => each.at.getTime() <= Date.parse(timestamp) + LEAD_MS,
        );
        return { text, confidence, sound: sound?.name ?? 'none' };
      }),
    isQuestionHeard: said.some(({ text }) => text === QUESTION),
    isCutOff: entries[0]?.text !== AGENTS[agent].greeting,
    greetingMs,
    minutes: (began.length * (SOUND_SECONDS + GAP_SECONDS)) / 60,
  };
}

async function playOn(
  dial: () => Promise<AgentCall>,
  agent: keyof typeof AGENTS,
  sounds: readonly Recorded[],
): Promise<Played> {
  const call = await dial();
  const listener = new Listener(call.line);
  const greeted = () => listener.hasSpoken(0, QUIET_MS, WAIT_MS_MAX);
  if (agent === 'listens') await greeted();
  else await listener.isSpeaking(0, 500, WAIT_MS_MAX);
  const began: { name: string; at: Date }[] = [];
  for (const { name, pcm } of sounds) {
    began.push({ name, at: new Date() });
    await call.line.speak(pcm);
  }
  await greeted();
  const greetingMs = listener.lastVoicedAtMs - (listener.firstVoicedAfter(0) ?? Number.NaN);
  const { lastVoicedAtMs } = await call.line.speak(phraseSaying(QUESTION));
  await listener.hasSpoken(lastVoicedAtMs, QUIET_MS, WAIT_MS_MAX);
  await call.hangUp();
  return { call, agent, greetingMs, began };
}

function withGap(pcm: Int16Array): Int16Array {
  const whole = new Int16Array(pcm.length + GAP_SECONDS * LINE_RATE_HZ);
  whole.set(pcm);
  return whole;
}
