/** Calls to agents whose language model fails: how long the line is silent, and whether the call goes on. */
import { Listener } from '../../../examples/demo/listener.ts';
import { Phone } from '../../../examples/phone/phone.ts';
import { phraseSaying } from '../../speech/spoken-phrases.ts';
import { FAULTY_MODEL, MODEL_FAULTS, startFaultyModel } from './faulty-model.ts';
import { startServer, type TestServer } from './server.ts';

const QUESTION = 'What are your opening hours?';
const NEXT = 'I have a question about my bill.';

/** Calls begin so far apart, so that they do not all want the recogniser at once. */
const APART_MS = 700;

/** The agent has ended its turn when it was silent for so long: longer than the longest silence within one. */
const OVER_MS = 4000;
const WAIT_MS_MAX = 40_000;

/** What one fault sounded like; `NaN` where nothing was said. */
export interface FaultHeard {
  readonly fault: string;
  /** Until the agent said anything. */
  readonly firstMs: number;
  /** The longest silence of the turn, that one included. */
  readonly longestMs: number;
  readonly isNextAnswered: boolean;
}

/** Calls a server of its own once for each of `MODEL_FAULTS`, all calls at once. No other model takes over. */
export async function hearModelFaults(): Promise<readonly FaultHeard[]> {
  const model = await startFaultyModel();
  const environment = { LLM: 'ollama', OLLAMA_HOST: model.address, OLLAMA_MODEL: FAULTY_MODEL };
  const server = await (await startServer({ environment })).ready();
  try {
    return await Promise.all(
      Object.keys(MODEL_FAULTS).map(async (fault, index) => {
        const phoneNumber = `+120255501${String(index).padStart(2, '0')}`;
        const systemPrompt = `You are a model that ${fault}.`;
        await server.createAgent({ phoneNumber, systemPrompt, greeting: 'Hello.' });
        await new Promise((resolve) => setTimeout(resolve, index * APART_MS));
        return { fault, ...(await hearFault(server, phoneNumber)) };
      }),
    );
  } finally {
    await server.stop();
    model.stop();
  }
}

async function hearFault(
  server: TestServer,
  phoneNumber: string,
): Promise<Omit<FaultHeard, 'fault'>> {
  const phone = new Phone();
  await phone.start();
  try {
    const call = await phone.call(`sip:${phoneNumber}@127.0.0.1:${server.sipPort}`);
    const listener = new Listener(call.line);
    const voicedAtMs: number[] = [];
    call.line.onPacket(({ atMs, isVoiced }) => {
      if (isVoiced) voicedAtMs.push(atMs);
    });
    await listener.hasSpoken(0, 600, WAIT_MS_MAX);
    const { lastVoicedAtMs } = await call.line.speak(phraseSaying(QUESTION));
    await listener.hasSpoken(lastVoicedAtMs, OVER_MS, WAIT_MS_MAX);
    const heardAtMs = [lastVoicedAtMs, ...voicedAtMs.filter((atMs) => atMs > lastVoicedAtMs)];
    const silencesMs = heardAtMs.slice(1).map((atMs, index) => atMs - (heardAtMs[index] ?? 0));
    const next = await call.line.speak(phraseSaying(NEXT));
    const isNextAnswered = await listener.hasSpoken(next.lastVoicedAtMs, 600, WAIT_MS_MAX);
    await call.hangUp();
    const [firstMs = Number.NaN] = silencesMs;
    return { firstMs, longestMs: Math.max(...silencesMs), isNextAnswered };
  } finally {
    await phone.stop();
  }
}
