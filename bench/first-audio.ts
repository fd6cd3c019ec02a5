/** Row 10, first-audio: from the caller's ACK to the first packet of a greeting that is kept ready, beside SiphonAI's line. */
import { setTimeout as wait } from 'node:timers/promises';
import { Phone } from '../examples/phone/phone.ts';
import { systemClock } from '../src/lib/clock.ts';
import { startServer } from '../test/support/server.ts';
import {
  checkTargets,
  markdownTable,
  numberArg,
  observe,
  percentile,
  printJson,
} from './lib/harness.ts';

const NUMBER = '+12025550123';
/** What SiphonAI's own benchmark says of its first packet, p95. */
const SIPHON_P95_MS = 19;
const VOICE_MS_MAX = 3000;

interface FirstAudio {
  /** From INVITE to 200, its arrival at the caller. */
  readonly answeredMs: number;
  /** From there, where the ACK leaves, to the first packet with the agent's voice. */
  readonly voiceMs: number;
}

/** `npm run bench -- first-audio [--calls 100] [--gate]`: one call after another, on a server with its usual settings. */
export async function run(args: readonly string[]): Promise<void> {
  const server = await startServer();
  const phone = new Phone();
  try {
    await server.ready();
    await server.createAgent({ phoneNumber: NUMBER, greeting: 'Good morning, how can I help?' });
    await phone.start();
    const uri = `sip:${NUMBER}@127.0.0.1:${server.sipPort}`;
    await callOnce(phone, uri);
    const { result: calls, machine } = await observe(() =>
      callAll(phone, uri, numberArg(args, 'calls', 100)),
    );
    printJson({ bench: 'first-audio', machine, calls });
    const voiceMs = calls.map((call) => call.voiceMs);
    const answeredMs = calls.map((call) => call.answeredMs);
    const row = {
      calls: calls.length,
      'INVITE to 200, p50 ms': percentile(answeredMs, 50),
      'ACK to voice, p50 ms': percentile(voiceMs, 50),
      'p95 ms': percentile(voiceMs, 95),
      'p99 ms': percentile(voiceMs, 99),
      'SiphonAI says, p95 ms': SIPHON_P95_MS,
      load: machine.load,
    };
    console.log(markdownTable([row]));
    checkTargets(args, [
      {
        name: 'ms from ACK to voice, p95',
        value: percentile(voiceMs, 95),
        limit: 5,
        tolerance: 0.1,
      },
    ]);
  } finally {
    await phone.stop();
    await server.stop();
  }
}

async function callAll(phone: Phone, uri: string, count: number): Promise<readonly FirstAudio[]> {
  const calls: FirstAudio[] = [];
  while (calls.length < count) calls.push(await callOnce(phone, uri));
  return calls;
}

async function callOnce(phone: Phone, uri: string): Promise<FirstAudio> {
  const invitedAtMs = systemClock.nowMs();
  const { invite, answered } = await phone.dial(uri);
  await invite.outcome;
  const answeredAtMs = systemClock.nowMs();
  const call = await answered;
  const untilMs = answeredAtMs + VOICE_MS_MAX;
  let first = call.line.heard.find(({ isVoiced }) => isVoiced);
  while (first === undefined && systemClock.nowMs() < untilMs) {
    await wait(5);
    first = call.line.heard.find(({ isVoiced }) => isVoiced);
  }
  await call.hangUp();
  if (first === undefined) throw new Error('Cannot measure: the greeting was not heard');
  return { answeredMs: answeredAtMs - invitedAtMs, voiceMs: first.atMs - answeredAtMs };
}

if (import.meta.main) await run(process.argv.slice(2));
