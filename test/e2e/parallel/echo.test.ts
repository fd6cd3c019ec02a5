/** Lines that give the agent's voice back to it: it neither stops for its echo nor takes it for the caller. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Listener } from '../../../examples/demo/listener.ts';
import { Phone } from '../../../examples/phone/phone.ts';
import type { PhoneLine } from '../../../examples/phone/phone-line.ts';
import { phraseSaying } from '../../speech/spoken-phrases.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { EchoPath, type EchoPathOptions } from '../../support/speech/echo-path.ts';

const PHONE_NUMBER = '+12025550123';
const QUESTION = 'What are your opening hours?';
const GREETING = 'This is a message of some length, so that there is time for all kinds of noises. '
  .repeat(3)
  .trim();

const QUIET_MS = 700;
const WAIT_MS_MAX = 60_000;

/** The echo's first tenth of a second may pause the agent, for 300 ms. */
const HELD_UP_MS_MAX = 700;

let server: TestServer;

beforeAll(async () => {
  const environment = { MODELS_DIR: join(tmpdir(), 'no-models-here') };
  server = await (await startServer({ environment })).ready();
  await server.createAgent({ phoneNumber: PHONE_NUMBER, greeting: GREETING });
});

afterAll(async () => {
  await server.stop();
});

/** A line with an echo, over which the caller can speak. */
class EchoLine {
  readonly #line: PhoneLine;
  #own: Int16Array = new Int16Array(0);

  constructor(line: PhoneLine, echo: EchoPathOptions | null) {
    const path = echo === null ? null : new EchoPath(echo);
    this.#line = line;
    line.onPacket(({ pcm }) => {
      const back = path?.pass(pcm) ?? new Int16Array(pcm.length);
      const sent = back.map((sample, index) => sample + (this.#own[index] ?? 0));
      this.#own = this.#own.subarray(pcm.length);
      void this.#line.speak(sent);
    });
  }

  /** Speaks from the next packet on. */
  speak(pcm: Int16Array): void {
    this.#own = pcm;
  }
}

interface Entry {
  readonly role: 'agent' | 'user';
  readonly text: string;
}

/** Calls, is greeted, and asks the question; or asks it while the agent greets. */
async function callWith(
  number: string,
  echo: EchoPathOptions | null,
  isInterrupting = false,
): Promise<number> {
  const phone = new Phone({ number });
  await phone.start();
  try {
    const call = await phone.call(`sip:${PHONE_NUMBER}@127.0.0.1:${server.sipPort}`);
    const line = new EchoLine(call.line, echo);
    const listener = new Listener(call.line);
    if (isInterrupting) await listener.isSpeaking(0, 5000, WAIT_MS_MAX);
    else await listener.hasSpoken(0, QUIET_MS, WAIT_MS_MAX);
    const greetingMs = listener.lastVoicedAtMs - (listener.firstVoicedAfter(0) ?? Number.NaN);
    const phrase = phraseSaying(QUESTION);
    line.speak(phrase);
    await new Promise((resolve) => setTimeout(resolve, phrase.length / 8));
    await listener.hasSpoken(listener.lastVoicedAtMs, QUIET_MS, WAIT_MS_MAX);
    await call.hangUp();
    return greetingMs;
  } finally {
    await phone.stop();
  }
}

async function transcriptOf(number: string): Promise<readonly Entry[]> {
  const id = (await server.endedCalls()).find(({ from }) => from === number)?.id;
  const { body } = await server.api('GET', `/api/calls/${id}`);
  return body.transcript as readonly Entry[];
}

const said = (entries: readonly Entry[]) =>
  entries.filter(({ role }) => role === 'user').map(({ text }) => text);

/** Some of the unit test's echoes. */
const ECHOES = [
  { delayMs: 40, gainDb: -15, smearMs: 8 },
  { delayMs: 137, gainDb: -22, smearMs: 8 },
  { delayMs: 250, gainDb: -30, smearMs: 8 },
  { delayMs: 250, gainDb: -15, smearMs: 8 },
];

test('an echo after 40 to 250 ms, 15 to 30 dB below the agent, neither stops it nor speaks to it', async () => {
  const lines = [null, ...ECHOES];
  const numberOf = (index: number) => `+1202555300${index}`;
  const [quietMs = Number.NaN, ...greetingsMs] = await Promise.all(
    lines.map((echo, index) => callWith(numberOf(index), echo)),
  );

  const transcripts = await Promise.all(lines.map((_, index) => transcriptOf(numberOf(index))));
  const heldUpMs = greetingsMs.map((greetingMs) => greetingMs - quietMs);
  expect(transcripts.map(([first]) => first?.text)).toEqual(lines.map(() => GREETING));
  expect(transcripts.map(said)).toEqual(lines.map(() => [QUESTION]));
  expect(Math.max(...heldUpMs)).toBeLessThan(HELD_UP_MS_MAX);
});

test('a caller on a line with an echo can interrupt the agent', async () => {
  const number = '+12025553100';
  await callWith(number, { delayMs: 100, gainDb: -20, smearMs: 8 }, true);

  const transcript = await transcriptOf(number);
  expect(transcript[0]?.text).not.toBe(GREETING);
  expect(said(transcript)).toEqual([QUESTION]);
});
