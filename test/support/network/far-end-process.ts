/**
 * A telephone in a process of its own, for networks that the test itself is not in: sends RTP where the other side's
 * SDP says, requests where its Contact says, and nowhere else.
 *
 * `far-end-process ADDRESS PORT`: prints one JSON object a line, see `FarEndReport`. Reads one command a line: `{"call": URI}`.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { Phone } from '../../../examples/phone/phone.ts';
import type { PhoneCall } from '../../../examples/phone/phone-call.ts';
import { parseSdp } from '../../../src/rtp/sdp.ts';
import type { SipMessage } from '../../../src/sip/message/message.ts';
import { tone } from '../speech/tone.ts';
import { FAR_END_HZ, type FarEndReport } from './far-end.ts';

/** So much voice of the other side is listened to before something is said. */
const VOICED_PACKETS = 25;
const LISTEN_MS_MAX = 20_000;
const SPEAK_MS = 1000;
const AMPLITUDE = 12_000;

/** A proxy passes 503 on as 500. RFC 3261, 16.7. */
const FULL = new Set([500, 503]);
/** Leaves a call the time to be over before `FarEnd.reports` gives up. */
const ROOM_MS_MAX = 45_000;
const ROOM_EVERY_MS = 1000;

const [address = '127.0.0.1', port = '0'] = process.argv.slice(2);
const phone = new Phone({ number: '+15550100001', address, port: Number(port) });

function tell(report: FarEndReport): void {
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

/** Listens, speaks, holds and resumes, and hangs up. @param theirs the message that has the other side's SDP and Contact. */
async function talk(kind: 'call' | 'answer', call: PhoneCall, theirs: SipMessage): Promise<void> {
  const ended = call.ended.then(() => true);
  await voiced(call);
  await call.line.speak(tone(FAR_END_HZ, SPEAK_MS, AMPLITUDE));
  const held = await call.hold();
  const resumed = await call.resume();
  const voicedPackets = call.line.heard.filter(({ isVoiced }) => isVoiced).length;
  await call.hangUp();
  const sdp = theirs.body.toString();
  tell({
    kind,
    voicedPackets,
    heardPackets: call.line.heard.length,
    isEnded: await ended,
    callId: theirs.callId,
    contact: theirs.contact?.uri ?? '',
    via: kind === 'answer' ? theirs.via.host : '',
    origin: /^o=.* (\S+)\r?$/m.exec(sdp)?.[1] ?? '',
    media: parseSdp(sdp).address,
    reinvites: [held, resumed].map(
      (answer) => `${answer.status} ${parseSdp(answer.body.toString()).address}`,
    ),
  });
}

/** Resolves when enough was heard, or after a while: the report says how much. */
function voiced({ line }: PhoneCall): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LISTEN_MS_MAX);
    let count = 0;
    line.onPacket(({ isVoiced }) => {
      if (isVoiced) count += 1;
      if (count < VOICED_PACKETS) return;
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Calls, again where the server had no room: a busy machine refuses calls, and a caller tries later. */
async function dial(uri: string): Promise<void> {
  const untilMs = performance.now() + ROOM_MS_MAX;
  for (;;) {
    const { invite, answered } = await phone.dial(uri);
    // What refuses the call is the outcome, too.
    answered.catch(() => undefined);
    const { response } = await invite.outcome;
    if (!FULL.has(response.status) || performance.now() > untilMs) {
      await talk('call', await answered, response);
      return;
    }
    await wait(ROOM_EVERY_MS);
  }
}

phone.onRinging((ringing) => {
  ringing.ring();
  const talked = ringing.answer().then((call) => talk('answer', call, ringing.request));
  talked.catch((error: unknown) => tell({ kind: 'failed', why: String(error) }));
});
await phone.start();
tell({ kind: 'ready' });

const commands = createInterface(process.stdin);
commands.on('line', (line) => {
  const { call } = JSON.parse(line) as { readonly call: string };
  dial(call).catch((error: unknown) => tell({ kind: 'failed', why: String(error) }));
});
await once(commands, 'close');
await phone.stop();
