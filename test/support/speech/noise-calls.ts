/** Calls with sounds on the caller's line: what the agent takes for a turn, what stops it, how much its voice is held up. */
import { Listener } from '../../../examples/demo/listener.ts';
import { Phone } from '../../../examples/phone/phone.ts';
import type { PhoneCall } from '../../../examples/phone/phone-call.ts';
import { phraseSaying } from '../../speech/spoken-phrases.ts';
import type { TestServer } from '../server/server.ts';

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

interface Entry {
  readonly role: 'agent' | 'user';
  readonly text: string;
  readonly timestamp: string;
  readonly confidence?: number;
}

/** What the telephone knows of its call. */
interface Played {
  readonly greetingMs: number;
  readonly began: readonly { readonly name: string; readonly at: Date }[];
}

/** Two agents: one speaks while there are sounds, the other listens. */
const AGENTS = {
  speaks: { phoneNumber: '+12025550123', greeting: SPEECH },
  listens: { phoneNumber: '+12025550124', greeting: 'Hello.' },
} as const;

/** Adds the agents that `playSounds` calls. */
export async function createNoiseAgents(server: TestServer): Promise<void> {
  for (const agent of Object.values(AGENTS)) {
    await server.createAgent({ ...agent, settings: { silenceTimeoutSeconds: 120 } });
  }
}

/** Plays each list of sounds on a call of its own, all at once; then the caller asks a question. */
export async function playSounds(
  server: TestServer,
  agent: keyof typeof AGENTS,
  calls: readonly (readonly LineSound[])[],
): Promise<readonly NoiseCall[]> {
  const numberOf = (index: number) => `+12025552${agent === 'speaks' ? 0 : 1}${10 + index}`;
  const played = await Promise.all(
    calls.map((sounds, index) => playOn({ server, agent, sounds, number: numberOf(index) })),
  );
  const ended = await server.endedCalls();
  return Promise.all(
    played.map(async ({ greetingMs, began }, index) => {
      const id = ended.find(({ from }) => from === numberOf(index))?.id;
      const { body } = await server.api('GET', `/api/calls/${id}`);
      const entries = body.transcript as readonly Entry[];
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
    }),
  );
}

async function playOn(options: {
  readonly server: TestServer;
  readonly agent: keyof typeof AGENTS;
  readonly sounds: readonly LineSound[];
  readonly number: string;
}): Promise<Played> {
  const { server, agent, sounds, number } = options;
  const phone = new Phone({ number });
  await phone.start();
  try {
    const { phoneNumber } = AGENTS[agent];
    const call = await phone.call(`sip:${phoneNumber}@127.0.0.1:${server.sipPort}`);
    return await converse(call, agent, sounds);
  } finally {
    await phone.stop();
  }
}

async function converse(
  call: PhoneCall,
  agent: keyof typeof AGENTS,
  sounds: readonly LineSound[],
): Promise<Played> {
  const listener = new Listener(call.line);
  const greeted = () => listener.hasSpoken(0, QUIET_MS, WAIT_MS_MAX);
  if (agent === 'listens') await greeted();
  else await listener.isSpeaking(0, 500, WAIT_MS_MAX);
  const began: { name: string; at: Date }[] = [];
  for (const { name, make } of sounds) {
    began.push({ name, at: new Date() });
    await call.line.speak(withGap(make(SOUND_SECONDS)));
  }
  await greeted();
  const greetingMs = listener.lastVoicedAtMs - (listener.firstVoicedAfter(0) ?? Number.NaN);
  const { lastVoicedAtMs } = await call.line.speak(phraseSaying(QUESTION));
  await listener.hasSpoken(lastVoicedAtMs, QUIET_MS, WAIT_MS_MAX);
  await call.hangUp();
  return { greetingMs, began };
}

function withGap(pcm: Int16Array): Int16Array {
  const whole = new Int16Array(pcm.length + GAP_SECONDS * LINE_RATE_HZ);
  whole.set(pcm);
  return whole;
}
