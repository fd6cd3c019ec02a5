/** `turn-caller.c` for machines without a C compiler: same arguments and lines, its own delays in the figures. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { HeardPackets, packetReport } from '../lib/heard-packets.ts';
import { monotonicMs } from '../lib/monotonic.ts';
import { emptyTurnReport } from '../lib/turn-report.ts';

const FRAME_MS = 20;
const PACKET_BYTES = 172;
const QUIET_BYTE = 0xff;
const SPEECH_PACKETS = 30;
/** A caller who resumes stops for 120 ms: long enough to be thought ahead of, too short to have finished. */
const HOLE_PACKETS = 6;
const RESUMED_SHARE = 0.2;
/** The mark of a reply to half a turn. */
const HALF_MARK = 7;
const HUM_PACKETS = 12;
/** A longer silence of the agent's than this is a pause. */
const GAP_MS = 60;
/** A turn in which a packet of ours left later than this does not count. */
const LATE_MS_MAX = 10;

type State = 'pause' | 'turn' | 'reply' | 'noise' | 'weigh-noise' | 'weigh-hum' | 'interruption';

const [calls = '1', warm = '1', measure = '1', behaviour] = process.argv.slice(2);
const isInterrupting = behaviour === 'interrupts';
const isResuming = behaviour === 'resumes';
const report = emptyTurnReport();
let beginMs = Number.POSITIVE_INFINITY;
let endMs = Number.POSITIVE_INFINITY;

const counts = (atMs: number) => atMs >= beginMs && atMs < endMs;
const chanceMs = (least: number, most: number) => least + Math.random() * (most - least);

class Caller {
  readonly socket: Socket = createSocket('udp4');
  readonly packets = new HeardPackets(counts);
  readonly #packet = Buffer.alloc(PACKET_BYTES);
  readonly #startMs: number;
  #port = 0;
  #state: State = 'pause';
  #actAtMs: number;
  #left = 0;
  #hole = 0;
  #sent = 0;
  #mark = 0;
  #interrupts = 0;
  #isDropped = false;
  #isLate = false;
  #onsetMs = 0;
  #saidAtMs = 0;
  #heardAtMs = 0;
  #stopAtMs = 0;
  #gapMs = 0;

  constructor(startMs: number) {
    this.#startMs = startMs;
    this.#actAtMs = startMs + chanceMs(500, 1500);
    this.#packet[0] = 0x80;
    this.socket.on('message', (datagram) => this.#hear(datagram, monotonicMs()));
  }

  connect(port: number): void {
    this.#port = port;
    this.#tick();
  }

  #tick(): void {
    const dueMs = this.#startMs + this.#sent * FRAME_MS;
    const nowMs = monotonicMs();
    if (nowMs >= dueMs) {
      if (nowMs - dueMs > LATE_MS_MAX) this.#isLate = true;
      this.#send(nowMs);
    }
    const nextMs = this.#startMs + this.#sent * FRAME_MS;
    setTimeout(() => this.#tick(), Math.max(0, nextMs - monotonicMs()));
  }

  #send(nowMs: number): void {
    this.#decide(nowMs);
    const packet = this.#packet;
    const isHole = this.#hole > 0 && this.#left === SPEECH_PACKETS / 2;
    const isVoiced = this.#left > 0 && !isHole;
    if (isHole) this.#hole -= 1;
    for (let index = 12; index < PACKET_BYTES; index += 1) {
      packet[index] = isVoiced ? (index & 8 ? 0x91 : 0x11) : QUIET_BYTE;
    }
    packet.writeUInt16BE(this.#sent & 0xffff, 2);
    packet.writeUInt32BE((this.#sent * 160) >>> 0, 4);
    if (isVoiced) {
      this.#left -= 1;
      this.#saidAtMs = monotonicMs();
    }
    this.socket.send(packet, this.#port, '127.0.0.1');
    this.#sent += 1;
    report.sent += 1;
  }

  #speak(packets: number, nowMs: number): void {
    this.#left = packets;
    const hasHole = isResuming && Math.random() < RESUMED_SHARE;
    this.#hole = hasHole ? HOLE_PACKETS : 0;
    if (hasHole && counts(nowMs)) report.resumed += 1;
    this.#onsetMs = nowMs;
    this.#gapMs = 0;
    this.#isLate = false;
  }

  #enter(state: State, actAtMs: number): void {
    this.#state = state;
    this.#actAtMs = actAtMs;
  }

  /** What is to be done before a packet leaves. */
  #decide(nowMs: number): void {
    const silenceMs = nowMs - this.#heardAtMs;
    if (this.#left > 0) return;
    if (this.#state === 'reply' && !isInterrupting && silenceMs > 100) {
      this.#enter('pause', nowMs + chanceMs(300, 800));
    }
    if (nowMs >= this.#actAtMs) this.#act(nowMs, silenceMs);
  }

  #act(nowMs: number, silenceMs: number): void {
    switch (this.#state) {
      case 'pause':
        if (!isInterrupting && silenceMs < 300) return;
        this.#speak(SPEECH_PACKETS, nowMs);
        this.#enter('turn', nowMs + 4000);
        return;
      case 'turn':
      case 'interruption':
        if (counts(this.#onsetMs)) report.missed += 1;
        this.#enter('pause', nowMs + chanceMs(300, 800));
        return;
      case 'reply':
        if (!isInterrupting) return;
        this.#speak(1 + (this.#interrupts % 2), nowMs);
        this.#interrupts += 1;
        this.#enter('weigh-noise', nowMs + 300);
        return;
      case 'weigh-noise':
        this.#weighNoise(silenceMs);
        this.#enter('noise', nowMs + chanceMs(100, 300));
        return;
      case 'noise':
        this.#speak(HUM_PACKETS, nowMs);
        this.#enter('weigh-hum', nowMs + 1500);
        return;
      case 'weigh-hum':
        this.#weighHum(silenceMs);
        this.#speak(SPEECH_PACKETS, nowMs);
        this.#stopAtMs = this.#heardAtMs;
        this.#isDropped = silenceMs > GAP_MS;
        this.#enter('interruption', nowMs + 4000);
        return;
      default:
        this.#state satisfies never;
    }
  }

  #weighNoise(silenceMs: number): void {
    if (!counts(this.#onsetMs)) return;
    report.noises += 1;
    if (Math.max(this.#gapMs, silenceMs) > GAP_MS) report.noiseStops += 1;
  }

  #weighHum(silenceMs: number): void {
    if (!counts(this.#onsetMs)) return;
    report.hums += 1;
    if (silenceMs > GAP_MS) report.lostHums += 1;
  }

  #hear(datagram: Buffer, atMs: number): void {
    const isAudio = datagram.length === PACKET_BYTES && ((datagram[1] ?? 0) & 0x7f) === 0;
    if (!isAudio) return;
    const byte = datagram[20] ?? QUIET_BYTE;
    this.packets.hear(datagram, atMs, byte !== QUIET_BYTE);
    if (byte !== QUIET_BYTE) this.#hearVoice(byte & 7, atMs);
    else if (this.#state === 'interruption' && atMs > this.#onsetMs) this.#isDropped = true;
  }

  #hearVoice(mark: number, atMs: number): void {
    const isNew = mark !== this.#mark;
    const hasSpoken = this.#left === 0 && atMs > this.#saidAtMs;
    const gapMs = atMs - this.#heardAtMs;
    if (isNew) this.#judge(mark, atMs);
    if (atMs > this.#onsetMs) this.#gapMs = Math.max(this.#gapMs, gapMs);
    this.#heardAtMs = atMs;
    this.#mark = mark;
    if (this.#state === 'weigh-hum' && hasSpoken && !isNew && gapMs > GAP_MS) {
      if (counts(this.#saidAtMs)) report.resumes.push(atMs - this.#saidAtMs);
    } else if (this.#state === 'interruption' && !isNew) {
      if (this.#isDropped && counts(this.#onsetMs)) report.stale += 1;
      this.#stopAtMs = atMs;
    } else if (hasSpoken && (this.#state === 'turn' || this.#state === 'interruption')) {
      this.#hearReply(atMs);
    }
  }

  /** A reply to half a turn, or into the middle of one, is wrong. */
  #judge(mark: number, atMs: number): void {
    const isEarly = this.#state === 'turn' && this.#left > 0 && atMs > this.#onsetMs;
    if (counts(atMs) && (mark === HALF_MARK || isEarly)) report.wrong += 1;
  }

  #note(atMs: number): void {
    if (this.#isLate) {
      report.lateTurns += 1;
      return;
    }
    const hasStopped = this.#state === 'interruption' && this.#stopAtMs > this.#onsetMs;
    if (hasStopped) report.stops.push(this.#stopAtMs - this.#onsetMs);
    report.replies.push(atMs - this.#saidAtMs);
  }

  #hearReply(atMs: number): void {
    if (counts(this.#onsetMs)) this.#note(atMs);
    this.#enter('reply', atMs + chanceMs(300, 600));
  }
}

const startMs = monotonicMs() + 100;
const callers = Array.from({ length: Number(calls) }, (_, index) => {
  return new Caller(startMs + (FRAME_MS * index) / Number(calls));
});
for (const { socket } of callers) {
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
}
console.log(`ports ${callers.map(({ socket }) => socket.address().port).join(' ')}`);
const [line] = await once(createInterface({ input: process.stdin }), 'line');
for (const [at, port] of String(line).split(' ').entries()) callers[at]?.connect(Number(port));

setTimeout(() => {
  beginMs = monotonicMs();
  endMs = beginMs + Number(measure) * 1000;
  console.log('begin');
}, Number(warm) * 1000);
// What was said in the measured time may be answered after it.
setTimeout(finish, (Number(warm) + Number(measure)) * 1000 + 700);

function finish(): void {
  console.log('end');
  const { user, system } = process.cpuUsage();
  const packets = packetReport(callers.map((caller) => caller.packets));
  console.log(JSON.stringify({ ...report, ...packets, cpuSeconds: (user + system) / 1e6 }));
  process.exit(0);
}
