/** Our media engine as a benchmark's server: N calls that hear and talk all the time. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { CallSound } from '../../src/call/live-calls.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { LINE_RATE_HZ, type MediaSession } from '../../src/media/audio-stream.ts';
import { MediaEngine } from '../../src/media/engine/media-engine.ts';
import { CODECS, opusSettings } from '../../src/rtp/codecs.ts';
import { type AgreedSrtp, SdesKeys } from '../../src/rtp/srtp/sdes.ts';
import { SRTP_SUITE } from '../lib/srtp-suite.ts';

/** As a voice that streams: two seconds at a time. */
const CHUNK_MS = 2000;
const AHEAD_MS = 4000;

/** One timer for all calls: a timer each would cost what no call costs. */
const TICK_MS = 20;

const speech = Int16Array.from(
  { length: (CHUNK_MS * LINE_RATE_HZ) / 1000 },
  (_, sample) => ((sample * 409) % 16_000) - 8000,
);

/**
 * `rtp-engine N [rt|plain] [levels|watched|tones|G722|opus|srtp INLINE_KEY]`: reads N target ports from one line, prints `ports p1 … pN`, and runs until its
 * input ends. With `rt` the media worker asks for real-time priority; with `levels` somebody looks at the levels of
 * all calls, with `watched` listens to twenty of them as well. The codec is PCMU unless named. Keys come as
 * telephone-event, as carriers send them; with `tones` that was not agreed, and they are searched in the sound. With
 * `srtp` the caller's key is given, and each port is followed by a colon and ours.
 */
const [calls = '1', priority, wish, callersKey] = process.argv.slice(2);
const codec = wish === 'G722' || wish === 'opus' ? wish : 'PCMU';
const audience = wish === 'levels' || wish === 'watched' ? wish : undefined;
const engine = new MediaEngine({
  clock: systemClock,
  log: silentLogger,
  ports: { first: 16_000, last: 17_999 },
  workers: 1,
  isRealTime: priority === 'rt',
});
const input = createInterface({ input: process.stdin });
input.once('close', () => process.exit(0));
const [line = ''] = await once(input, 'line');
const targets = String(line).split(' ').map(Number);

await engine.start();
const sessions: MediaSession[] = [];
for (let opened = 0; opened < Number(calls); opened += 1) {
  sessions.push(await engine.open({ signallingAddress: '127.0.0.1' }));
}
const places = sessions.map((session, index) => {
  const srtp = agreedSrtp();
  talk(session, targets[index] ?? 0, srtp);
  return srtp === undefined ? session.localPort : `${session.localPort}:${srtp.send.inline}`;
});
goOnTalking();
if (audience !== undefined) watch(sessions);
console.log(`ports ${places.join(' ')}`);

/** Keys of one call; undefined for plain RTP. */
function agreedSrtp(): AgreedSrtp | undefined {
  if (wish !== 'srtp') return undefined;
  return new SdesKeys().agree([{ tag: 1, suite: SRTP_SUITE, inline: callersKey ?? '' }]);
}

function watch(lines: readonly MediaSession[]): void {
  const scope = { accountId: 'acct_1', environment: 'live' } as const;
  const inProgress = lines.map((audio, index) => ({
    ...{ callId: `call_${index}`, scope, audio },
    transfer: () => 'not-in-progress' as const,
  }));
  const sound = new CallSound({ clock: systemClock, inProgress: () => inProgress });
  sound.watchLevels(scope, (levels) => JSON.stringify(levels));
  if (audience === 'levels') return;
  const sink = { onSound: () => undefined, onOver: () => undefined };
  for (const { callId } of inProgress.slice(0, 20)) sound.listen(callId, sink);
}

function talk(session: MediaSession, port: number, srtp: AgreedSrtp | undefined): void {
  session.setRemote({
    ...{ address: '127.0.0.1', port, rtcpPort: port, isRtcpMuxed: false },
    ...{ codec, payloadType: CODECS[codec].payloadType, maySend: true, mayReceive: true },
    ...(wish !== 'tones' && {
      telephoneEventPayloadType: 101,
      telephoneEventClockHz: LINE_RATE_HZ,
    }),
    ...(srtp !== undefined && { srtp }),
    ...(codec === 'opus' && { opus: opusSettings(CODECS.opus.parameters) }),
  });
  session.begin(1);
  for (let saidMs = 0; saidMs < AHEAD_MS; saidMs += CHUNK_MS) session.say(1, speech);
}

/** Each call's next chunk in turn, spread over a chunk's time, as calls are. */
function goOnTalking(): void {
  const beganAtMs = systemClock.nowMs();
  let said = 0;
  setInterval(() => {
    const due = ((systemClock.nowMs() - beganAtMs) * sessions.length) / CHUNK_MS;
    for (; said < due; said += 1) sessions[said % sessions.length]?.say(1, speech);
  }, TICK_MS);
}
