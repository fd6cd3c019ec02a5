/**
 * Responsiveness: how soon the agent answers a complete question, by its setting.
 *
 * Real calls over SIP and RTP to a whole server: the detector (Silero) and the tiny recogniser that come with Offhook,
 * espeak-ng's voice, speculation as shipped. The language model is an HTTP server that speaks Ollama's protocol and answers after
 * 40 ms, as a small model on a graphics card does whose prompt is read ahead. The time is the caller's: from the last packet that was louder than
 * silence to the agent's first voiced one. It holds the silence that the setting waits for after a question, from the
 * detector's last voice, some 50 ms after the caller's
 * (`turn-rules.ts`), which the row names. There is no peer: it would need the same calls into a framework.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Listener } from '../examples/demo/listener.ts';
import { Phone } from '../examples/phone/phone.ts';
import { ENDPOINTING_WAITS } from '../src/conversation/turn/turn-rules.ts';
import { RESPONSIVENESS, type Responsiveness } from '../src/domain/agent/agent.ts';
import { phraseSaying } from '../test/speech/spoken-phrases.ts';
import { startServer, type TestServer } from '../test/support/server/server.ts';
import {
  checkTargets,
  markdownTable,
  numberArg,
  observe,
  percentile,
  printJson,
} from './lib/harness.ts';
import { QUICK_MODEL, startQuickModel } from './lib/quick-model.ts';

/** Questions that the recogniser writes with a question mark. */
const QUESTIONS = ['What are your opening hours?', "Can I come on Monday at nine o'clock?"];

/** Median that a caller may wait for, in milliseconds. */
const TARGETS_MS: Readonly<Record<Responsiveness, number>> = {
  fast: 230,
  balanced: 350,
  patient: 650,
};

/** How long the language model takes. */
const FIRST_WORD_MS = 40;

/** A percentile of fewer turns is a matter of luck. */
const TURNS_MIN = 30;

const QUIET_MS = 700;
const WAIT_MS_MAX = 20_000;

/** Calls begin so far apart, so that their turns do not march in step. */
const APART_MS = 900;

/** `npm run bench -- responsiveness [--turns 30] [--calls 2] [--gate]`: one setting after the other, `calls` at once. */
export async function run(args: readonly string[]): Promise<void> {
  const calls = numberArg(args, 'calls', 2);
  const turns = Math.ceil(numberArg(args, 'turns', TURNS_MIN) / calls);
  const { result, machine } = await observe(() => measureAll(calls, turns));
  printJson({ bench: 'responsiveness', waitsMs: result, machine });
  const rows = RESPONSIVENESS.map((setting) => {
    const waitsMs = result[setting].filter((ms) => !Number.isNaN(ms));
    return {
      responsiveness: setting,
      'waits after a question, ms': ENDPOINTING_WAITS[setting].questionMs,
      turns: waitsMs.length,
      'p50 ms': percentile(waitsMs, 50),
      'p95 ms': percentile(waitsMs, 95),
      unanswered: result[setting].length - waitsMs.length,
    };
  });
  console.log(markdownTable(rows));
  const none = { limit: 0, tolerance: 0 };
  checkTargets(
    args,
    rows.flatMap((row) => {
      const { responsiveness, turns: count, unanswered } = row;
      const limit = TARGETS_MS[responsiveness];
      return [
        { name: `${responsiveness}: answer p50, ms`, value: row['p50 ms'], limit, tolerance: 0.1 },
        { name: `${responsiveness}: turns short of 30`, value: TURNS_MIN - count, ...none },
        { name: `${responsiveness}: questions without an answer`, value: unanswered, ...none },
      ];
    }),
  );
}

/** Waits in milliseconds by setting; NaN where no answer came. */
async function measureAll(
  calls: number,
  turns: number,
): Promise<Readonly<Record<Responsiveness, readonly number[]>>> {
  const model = await startQuickModel(FIRST_WORD_MS);
  const environment = { LLM: 'ollama', OLLAMA_HOST: model.address, OLLAMA_MODEL: QUICK_MODEL };
  const modelsDir = { MODELS_DIR: '/no-models-here' };
  const server = await (
    await startServer({ environment: { ...environment, ...modelsDir } })
  ).ready();
  const waitsMs: Record<Responsiveness, number[]> = { fast: [], balanced: [], patient: [] };
  try {
    for (const [index, responsiveness] of RESPONSIVENESS.entries()) {
      const phoneNumber = `+1202555014${index}`;
      await server.createAgent({ phoneNumber, responsiveness, greeting: 'Hello.' });
      const talks = Array.from({ length: calls }, async (_, call) => {
        await sleep(call * APART_MS);
        return talk(server, phoneNumber, turns);
      });
      waitsMs[responsiveness].push(...(await Promise.all(talks)).flat());
    }
    return waitsMs;
  } finally {
    await server.stop();
    model.stop();
  }
}

/** One call of so many questions. */
async function talk(server: TestServer, phoneNumber: string, turns: number): Promise<number[]> {
  const phone = new Phone();
  await phone.start();
  try {
    const call = await phone.call(`sip:${phoneNumber}@127.0.0.1:${server.sipPort}`);
    const listener = new Listener(call.line);
    await listener.hasSpoken(0, QUIET_MS, WAIT_MS_MAX);
    const waitsMs: number[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      const { lastVoicedAtMs } = await call.line.speak(
        phraseSaying(QUESTIONS[turn % QUESTIONS.length] ?? ''),
      );
      await listener.hasSpoken(lastVoicedAtMs, QUIET_MS, WAIT_MS_MAX);
      waitsMs.push((listener.firstVoicedAfter(lastVoicedAtMs) ?? Number.NaN) - lastVoicedAtMs);
    }
    await call.hangUp();
    return waitsMs;
  } finally {
    await phone.stop();
  }
}
