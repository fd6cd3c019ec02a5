/** Row 10, first-audio: from the caller's ACK to the first packet of a greeting that is kept ready, compared with SiphonAI's line. */
import { Phone } from '../examples/phone/phone.ts';
import { startServer } from '../test/support/server/server.ts';
import { callUntilVoice, type FirstAudio } from './lib/first-voice.ts';
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

/** `npm run bench -- first-audio [--calls 100] [--gate]`: one call after another, on a server with its usual settings. */
export async function run(args: readonly string[]): Promise<void> {
  const server = await startServer();
  const phone = new Phone();
  try {
    await server.ready();
    await server.createAgent({ phoneNumber: NUMBER, greeting: 'Good morning, how can I help?' });
    await phone.start();
    const uri = `sip:${NUMBER}@127.0.0.1:${server.sipPort}`;
    await callUntilVoice(phone, uri);
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
  while (calls.length < count) calls.push(await callUntilVoice(phone, uri));
  return calls;
}

if (import.meta.main) await run(process.argv.slice(2));
