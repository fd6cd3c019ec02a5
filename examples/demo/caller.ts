/** The demo's caller, in a process of its own: rings, says its lines, interrupts, and hangs up when it is done. */
import { systemClock } from '../../src/lib/clock.ts';
import { Phone } from '../phone/phone.ts';
import type { PhoneCall } from '../phone/phone-call.ts';
import { Listener } from './listener.ts';
import type { CallerReport } from './reports.ts';
import { LINES, type Line } from './script.ts';
import { speakAll } from './voice.ts';

/** How long the agent must be silent before a polite caller speaks. */
const QUIET_MS = 900;
/** How much of the answer an impolite caller hears. */
const INTERRUPT_AFTER_MS = 700;
const WAIT_MS_MAX = 15_000;
const GOODBYE_MS_MAX = 12_000;

const report = (line: CallerReport) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** Says one line at its moment. @returns when its last voiced packet left. */
async function say(
  call: PhoneCall,
  listener: Listener,
  turn: { readonly line: Line; readonly pcm: Int16Array; readonly sinceMs: number },
): Promise<number> {
  const { line, pcm, sinceMs } = turn;
  const isInterruption = line.isInterruption === true;
  if (isInterruption) await listener.isSpeaking(sinceMs, INTERRUPT_AFTER_MS, WAIT_MS_MAX);
  else await listener.hasSpoken(sinceMs, QUIET_MS, WAIT_MS_MAX);
  const beganAtMs = listener.firstVoicedAfter(sinceMs);
  if (sinceMs > 0 && beganAtMs !== undefined)
    report({ kind: 'reply', afterMs: beganAtMs - sinceMs });

  const { startedAtMs, lastVoicedAtMs } = await call.line.speak(pcm);
  report({ kind: 'said', text: line.text, isInterruption, lastVoicedAtMs });
  if (isInterruption) {
    report({ kind: 'stopped', afterMs: Math.max(0, listener.lastVoicedAtMs - startedAtMs) });
  }
  return Math.max(lastVoicedAtMs, listener.lastVoicedAtMs);
}

async function ring(uri: string): Promise<void> {
  const spoken = await speakAll(
    LINES.map(({ text }) => text),
    'en-US-GuyNeural',
  );
  const phone = new Phone({ number: '+12025550187' });
  await phone.start();
  try {
    const call = await phone.call(uri);
    report({ kind: 'answered' });
    const listener = new Listener(call.line);
    let sinceMs = 0;
    for (const [index, line] of LINES.entries()) {
      const pcm = spoken[index] ?? new Int16Array();
      sinceMs = await say(call, listener, { line, pcm, sinceMs });
    }
    const timeout = Promise.withResolvers<undefined>();
    const cancel = systemClock.after(GOODBYE_MS_MAX, () => timeout.resolve(undefined));
    const end = await Promise.race([call.ended, timeout.promise]);
    cancel();
    if (end === undefined) await call.hangUp();
    report({ kind: 'ended', cause: end?.cause ?? 'local-bye' });
  } finally {
    await phone.stop();
  }
}

const [uri] = process.argv.slice(2);
if (uri === undefined) {
  console.error('Usage: node examples/demo/caller.ts sip:+12025550123@127.0.0.1:5060');
  process.exitCode = 64;
} else {
  await ring(uri);
}
