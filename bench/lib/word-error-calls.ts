/** Phrases said to a whole server over SIP and RTP, and what its call records say was understood. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Listener } from '../../examples/demo/listener.ts';
import { Phone } from '../../examples/phone/phone.ts';
import { startServer, type TestServer } from '../../test/support/server/server.ts';
import type { SpokenPhrase } from './spoken-sample.ts';

/** From the range that is kept for examples. */
const AGENTS = {
  en: { phoneNumber: '+12025550123', language: 'en-US' },
  es: { phoneNumber: '+12025550124', language: 'es-ES' },
} as const;

/** How long the agent must be silent before a polite caller speaks. */
const QUIET_MS = 400;
const WAIT_MS_MAX = 8000;
const RECORD_MS_MAX = 15_000;

/** Short replies: their content does not matter here. */
const SCRIPT = {
  name: 'short answers',
  rules: [{ id: 'anything', when: { any: true }, say: 'Yes.' }],
  otherwise: { say: 'Yes.' },
};

/** One call: what the caller said, in order, and what the record has of the caller. */
export interface CallHeard {
  readonly said: readonly SpokenPhrase[];
  readonly heard: readonly string[];
  /** Phrases to which the agent said nothing. */
  readonly unanswered: number;
}

interface Entry {
  readonly role: 'agent' | 'user';
  readonly text: string;
}

interface Caller {
  readonly number: string;
  readonly said: readonly SpokenPhrase[];
}

/** Says all phrases in parallel calls of `phrasesPerCall` each, to a server of its own. */
export async function hearThroughCalls(
  phrases: readonly SpokenPhrase[],
  phrasesPerCall: number,
): Promise<readonly CallHeard[]> {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-script-'));
  const script = join(folder, 'script.json');
  writeFileSync(script, JSON.stringify(SCRIPT));
  const server = await startServer({ environment: { SCRIPT_FILE: script, LOG_LEVEL: 'warn' } });
  try {
    await server.ready();
    for (const agent of Object.values(AGENTS)) {
      await server.createAgent({ ...agent, greeting: 'Hello.' });
    }
    const callers = callersFor(phrases, phrasesPerCall);
    const unanswered = await Promise.all(callers.map((caller) => talk(server, caller)));
    const heard = await Promise.all(callers.map(({ number }) => heardFrom(server, number)));
    return callers.map(({ said }, index) => ({
      said,
      heard: heard[index] ?? [],
      unanswered: unanswered[index] ?? 0,
    }));
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

/** A call has one language, as its agent has. */
function callersFor(phrases: readonly SpokenPhrase[], phrasesPerCall: number): Caller[] {
  const calls = (['en', 'es'] as const).flatMap((language) => {
    const own = phrases.filter((phrase) => phrase.language === language);
    const count = Math.ceil(own.length / phrasesPerCall);
    return Array.from({ length: count }, (_, call) =>
      own.slice(call * phrasesPerCall, (call + 1) * phrasesPerCall),
    );
  });
  return calls.map((said, index) => ({ said, number: `+1202555${1000 + index}` }));
}

/** @returns how many phrases were not answered. */
async function talk(server: TestServer, { number, said }: Caller): Promise<number> {
  const phone = new Phone({ number });
  await phone.start();
  try {
    const { phoneNumber } = AGENTS[said[0]?.language ?? 'en'];
    const call = await phone.call(`sip:${phoneNumber}@127.0.0.1:${server.sipPort}`);
    const listener = new Listener(call.line);
    await listener.hasSpoken(0, QUIET_MS, WAIT_MS_MAX);
    let unanswered = 0;
    for (const { pcm } of said) {
      const { lastVoicedAtMs } = await call.line.speak(pcm);
      const isAnswered = await listener.hasSpoken(lastVoicedAtMs, QUIET_MS, WAIT_MS_MAX);
      if (!isAnswered) unanswered += 1;
    }
    await call.hangUp();
    return unanswered;
  } finally {
    await phone.stop();
  }
}

/** What the record of the call from `number` has the caller say. @throws {Error} when there is none in time. */
async function heardFrom(server: TestServer, number: string): Promise<readonly string[]> {
  const deadlineMs = performance.now() + RECORD_MS_MAX;
  while (performance.now() < deadlineMs) {
    const { body } = await server.api('GET', '/api/calls?limit=100&status=completed');
    const calls = body.data as readonly { readonly id: string; readonly from: string }[];
    const id = calls.find(({ from }) => from === number)?.id;
    if (id !== undefined) {
      const { body: call } = await server.api('GET', `/api/calls/${id}`);
      const entries = call.transcript as readonly Entry[];
      return entries.filter(({ role }) => role === 'user').map(({ text }) => text);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`Cannot read the record of the call from "${number}": it did not end`);
}
