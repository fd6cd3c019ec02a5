/** Calls on which the caller speaks over the agent's answer: whether the agent goes on, and what was made of the words. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Listener } from '../../../examples/demo/listener.ts';
import { Phone } from '../../../examples/phone/phone.ts';
import type { PhoneCall } from '../../../examples/phone/phone-call.ts';
import type { TestServer } from '../server/server.ts';

/** Something that is said over the agent. */
export interface Overlap {
  readonly text: string;
  /** 8 kHz, mono. */
  readonly pcm: Int16Array;
}

/** One caller: what they ask, and what they say over the answer. */
export interface OverlapCall {
  /** The agent's, BCP 47. */
  readonly language: string;
  /** At the caller's usual level, 1.5 s at least, so that it is known. */
  readonly question: Int16Array;
  readonly overlaps: readonly Overlap[];
}

/** What became of one of them. */
export interface OverlapOutcome {
  readonly language: string;
  readonly said: string;
  /** What the record has instead; null where it has nothing. */
  readonly heard: { readonly text: string; readonly confidence: number } | null;
  /** Whether the agent gave its answer up for it, and said something else. */
  readonly isFloorTaken: boolean;
  /** Whether the agent has hung up since, or before it could be said. */
  readonly isOver: boolean;
  /** The agent's longest silence from its beginning to the next. */
  readonly silentMs: number;
}

interface Entry {
  readonly role: 'agent' | 'user';
  readonly text: string;
  readonly timestamp: string;
  readonly confidence?: number;
}

const SENTENCE =
  'We are open from nine to five on every working day, and on the other days there is somebody who takes messages. ';

/** Longer than all that is said over it. */
const ANSWER = SENTENCE.repeat(8).trim();

/** A rule book that hangs up where it takes words for a farewell, as models do. */
const BOOK = {
  name: 'long answers',
  rules: [
    {
      id: 'farewell',
      when: { regex: "\\b(good ?bye|bye|that's all|adi[oó]s)\\b" },
      say: 'Goodbye.',
      call: { tool: 'end_call' },
    },
    { id: 'anything', when: { any: true }, say: ANSWER },
  ],
  otherwise: { say: ANSWER },
};

/** The agent has spoken for so long before the caller speaks over it. */
const SPOKEN_MS = 700;

/** Time until the turn is decided and the agent speaks again. */
const SETTLED_MS = 2500;
const QUIET_MS = 400;
const WAIT_MS_MAX = 30_000;

/** The record dates a voice, and an answer, up to so much before the telephone's own first packet of it. */
const LEAD_MS = 200;

/** Settings of a server for such calls. */
export function overlapEnvironment(): Readonly<Record<string, string>> {
  const file = join(mkdtempSync(join(tmpdir(), 'offhook-script-')), 'script.json');
  writeFileSync(file, JSON.stringify(BOOK));
  return { SCRIPT_FILE: file };
}

/** Makes all calls, to an agent for each language. @param atOnce calls in progress */
export async function playOverlaps(
  server: TestServer,
  calls: readonly OverlapCall[],
  atOnce: number,
): Promise<readonly OverlapOutcome[]> {
  const numberOf = (index: number) => `+12025554${String(index).padStart(3, '0')}`;
  const agentOf = new Map<string, string>();
  for (const { language } of calls) {
    if (agentOf.has(language)) continue;
    const phoneNumber = `+1202555016${agentOf.size}`;
    agentOf.set(language, phoneNumber);
    await server.createAgent({ phoneNumber, language, greeting: 'Hello.', tools: ['end_call'] });
  }
  const played: (readonly PlayedOverlap[])[] = [];
  const waiting = [...calls.entries()];
  const playWaiting = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, call] = next;
      const to = agentOf.get(call.language) ?? '';
      played[index] = await play(server, call, { from: numberOf(index), to });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, playWaiting));
  const ended = await server.endedCalls();
  const outcomes = await Promise.all(
    calls.map(async (call, index) => {
      const id = ended.find(({ from }) => from === numberOf(index))?.id;
      const { body } = await server.api('GET', `/api/calls/${id}`);
      return outcomesOf(call, played[index] ?? [], body.transcript as readonly Entry[]);
    }),
  );
  return outcomes.flat();
}

/** When an overlap was begun and the next one could be, since 1970. */
interface PlayedOverlap {
  readonly fromMs: number;
  readonly toMs: number;
  readonly silentMs: number;
}

async function play(
  server: TestServer,
  plan: OverlapCall,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<readonly PlayedOverlap[]> {
  const phone = new Phone({ number: from });
  await phone.start();
  try {
    const call = await phone.call(`sip:${to}@127.0.0.1:${server.sipPort}`);
    return await speakOver(call, plan);
  } finally {
    await phone.stop();
  }
}

async function speakOver(call: PhoneCall, plan: OverlapCall): Promise<readonly PlayedOverlap[]> {
  const listener = new Listener(call.line);
  let isOver = false;
  void call.ended.then(() => {
    isOver = true;
  });
  await listener.hasSpoken(0, QUIET_MS, WAIT_MS_MAX);
  let { endedAtMs } = await call.line.speak(plan.question);
  const played: PlayedOverlap[] = [];
  for (const { pcm } of plan.overlaps) {
    await Promise.race([listener.isSpeaking(endedAtMs, SPOKEN_MS, WAIT_MS_MAX), call.ended]);
    if (isOver) break;
    const fromMs = Date.now();
    const spoken = await call.line.speak(pcm);
    await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
    ({ endedAtMs } = spoken);
    const silentMs = longestSilenceMs(call, spoken.startedAtMs);
    played.push({ fromMs, toMs: Date.now(), silentMs });
  }
  if (!isOver) await call.hangUp();
  return played;
}

/** The agent's longest silence since an instant. */
function longestSilenceMs(call: PhoneCall, sinceMs: number): number {
  const voiced = call.line.heard.filter(({ atMs, isVoiced }) => isVoiced && atMs > sinceMs);
  const instants = [sinceMs, ...voiced.map(({ atMs }) => atMs)];
  return Math.max(...instants.slice(1).map((atMs, index) => atMs - (instants[index] ?? atMs)));
}

function outcomesOf(
  { language, overlaps }: OverlapCall,
  played: readonly PlayedOverlap[],
  transcript: readonly Entry[],
): OverlapOutcome[] {
  return overlaps.map(({ text: said }, index) => {
    const one = played[index];
    const nextMs = played[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
    const own = transcript.filter(({ timestamp }) => {
      const atMs = Date.parse(timestamp) + LEAD_MS;
      return one !== undefined && atMs >= one.fromMs && atMs < nextMs;
    });
    const words = own.filter(({ role }) => role === 'user');
    const [{ confidence = 1 } = {}] = words;
    const text = words.map((entry) => entry.text).join(' ');
    const isOver = one === undefined || (index + 1 < overlaps.length && !played[index + 1]);
    return {
      ...{ language, said, isOver, silentMs: one?.silentMs ?? Number.NaN },
      heard: words.length === 0 ? null : { text, confidence },
      isFloorTaken: isOver || own.some(({ role }) => role === 'agent'),
    };
  });
}
