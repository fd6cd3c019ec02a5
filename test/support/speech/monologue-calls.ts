/** Calls of people who take their time, and what the record has of them. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Listener } from '../../../examples/demo/listener.ts';
import { Phone } from '../../../examples/phone/phone.ts';
import type { TestServer } from '../server/server.ts';
import type { Monologue, SpokenTrack } from './monologues.ts';

const QUIET_MS = 600;
const WAIT_MS_MAX = 20_000;

/** A server with the models that come with Offhook. */
export const NO_MODELS = { MODELS_DIR: join(tmpdir(), 'no-models-here') };

interface Entry {
  readonly role: 'agent' | 'user';
  readonly text: string;
  readonly timestamp: string;
}

export interface Told {
  /** The caller's. */
  readonly number: string;
  readonly endedAtMs: number;
  readonly isAnswered: boolean;
}

/** Calls an agent that speaks the caller's language, and tells it all. */
export async function tell(
  server: TestServer,
  { language }: Monologue,
  { pcm }: SpokenTrack,
  place: number,
): Promise<Told> {
  const phoneNumber = `+1202555016${place}`;
  await server.createAgent({ greeting: 'Hello.', phoneNumber, language });
  const number = `+1202556016${place}`;
  const phone = new Phone({ number });
  await phone.start();
  try {
    const call = await phone.call(`sip:${phoneNumber}@127.0.0.1:${server.sipPort}`);
    const listener = new Listener(call.line);
    await listener.hasSpoken(0, QUIET_MS, WAIT_MS_MAX);
    const { lastVoicedAtMs } = await call.line.speak(pcm);
    const endedAtMs = Date.now();
    const isAnswered = await listener.hasSpoken(lastVoicedAtMs, QUIET_MS, WAIT_MS_MAX);
    await call.hangUp();

    return { number, endedAtMs, isAnswered };
  } finally {
    await phone.stop();
  }
}

/** What was said after the greeting, and what the agent said before the caller was at the end. Once no call is up. */
export async function recordOf(server: TestServer, { number, endedAtMs }: Told) {
  const ended = (await server.endedCalls()).find(({ from }) => from === number);
  const { body } = await server.api('GET', `/api/calls/${ended?.id}`);
  const [, ...entries] = body.transcript as readonly Entry[];
  const interruptions = entries.filter(
    ({ role, timestamp }) => role === 'agent' && Date.parse(timestamp) < endedAtMs,
  );
  return { entries, interruptions };
}
