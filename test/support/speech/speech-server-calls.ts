/** Calls to a server whose recognition and voices are servers on the network. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Listener } from '../../../examples/demo/listener.ts';
import { Phone } from '../../../examples/phone/phone.ts';
import type { PhoneCall } from '../../../examples/phone/phone-call.ts';
import { phraseSaying } from '../../speech/spoken-phrases.ts';
import { startServer, type TestServer } from '../server/server.ts';
import { OpenAiSpeechServer } from './openai-speech-server.ts';
import { WyomingSpeechServer } from './wyoming-speech-server.ts';

const undo: (() => unknown)[] = [];

/** Stops what the test has started; for `afterEach`. */
export async function stopAll(): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step();
}

export const PHRASES = [
  'I would like to book an appointment.',
  'What are your opening hours?',
] as const;

/** Louder than this at the server's frequency is its voice; espeak-ng has some energy everywhere. */
export const TONE_AMPLITUDE_MIN = 6000;

const REPLY = 'Thank you, I have made a note of it.';

export async function speechServer(port = 0): Promise<OpenAiSpeechServer> {
  const server = await OpenAiSpeechServer.start(port);
  undo.push(() => server.stop());
  return server;
}

export async function wyomingServer(port = 0): Promise<WyomingSpeechServer> {
  const server = await WyomingSpeechServer.start(port);
  undo.push(() => server.stop());
  return server;
}

/** A server with an agent that always gives the same answer. */
export async function startOffhook(
  environment: Readonly<Record<string, string>>,
  reply: string = REPLY,
): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-speech-'));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  const script = join(folder, 'script.json');
  const rules = [{ id: 'anything', when: { any: true }, say: reply }];
  writeFileSync(script, JSON.stringify({ name: 'notes', rules, otherwise: { say: reply } }));
  const server = await startServer({
    environment: { MODELS_DIR: 'models/tiny', SCRIPT_FILE: script, ...environment },
  });
  undo.push(() => server.stop());
  await server.ready();
  await server.createAgent({ greeting: 'Hello.' });
  return server;
}

export interface Talk {
  readonly call: PhoneCall;
  readonly listener: Listener;
}

export async function ring(server: TestServer): Promise<Talk> {
  const phone = new Phone();
  await phone.start();
  undo.push(() => phone.stop());
  const call = await phone.call(`sip:+12025550123@127.0.0.1:${server.sipPort}`);
  const listener = new Listener(call.line);
  expect(await listener.hasSpoken(0, 500, 10_000), 'the greeting is heard').toBe(true);
  return { call, listener };
}

/** Says a phrase and hears the answer to its end. @returns the time until the answer began. */
export async function say({ call, listener }: Talk, text: string): Promise<number> {
  const { lastVoicedAtMs } = await call.line.speak(phraseSaying(text));
  const isAnswered = await listener.hasSpoken(lastVoicedAtMs, 1000, 20_000);
  expect(isAnswered, `"${text}" is answered`).toBe(true);
  return (listener.firstVoicedAfter(lastVoicedAtMs) ?? Number.NaN) - lastVoicedAtMs;
}

/** What the record has the caller say. */
export async function record(server: TestServer, { call }: Talk): Promise<readonly string[]> {
  await call.hangUp();
  const [ended] = await server.endedCalls();
  const { body } = await server.api('GET', `/api/calls/${ended?.id}`);
  const entries = body.transcript as readonly { readonly role: string; readonly text: string }[];
  return entries.filter(({ role }) => role === 'user').map(({ text }) => text);
}

export async function engineOf(server: TestServer, job: string): Promise<Record<string, unknown>> {
  const body = (await (await fetch(`${server.baseUrl}/readyz`)).json()) as {
    readonly engines: readonly Record<string, unknown>[];
  };
  return body.engines.find((engine) => engine.job === job) ?? {};
}

/** Sound heard since an instant. */
export function heardSince({ call }: Talk, sinceMs: number): Int16Array {
  const packets = call.line.heard.filter(({ atMs }) => atMs > sinceMs);
  return Int16Array.from(packets.flatMap(({ pcm }) => [...pcm]));
}

/** A call on which the speech server gets a fault after the first answer: no word is lost, and `/readyz` names what stands in. */
export async function expectLocalEnginesTakeOver(
  server: TestServer,
  at: { readonly engine: string; readonly address: string; readonly fail: () => void },
): Promise<void> {
  const talk = await ring(server);
  await say(talk, PHRASES[0]);
  at.fail();
  await say(talk, PHRASES[1]);
  const stt = await engineOf(server, 'stt');
  const tts = await engineOf(server, 'tts');
  const said = await record(server, talk);

  expect(said).toEqual(PHRASES);
  expect(stt).toMatchObject({ engine: 'whisper', state: 'degraded', isFallback: true });
  expect(stt.reason).toContain(at.address);
  expect(tts).toMatchObject({ isFallback: true, replacement: { engine: at.engine } });
}
