/**
 * Stands in for `rtp-caller.c` where there is no compiler, and wherever calls are encrypted: same output, times taken in the process.
 *
 *     rtp-caller N WARM_S MEASURE_S [PAYLOAD_TYPE CLOCK_HZ PAYLOAD_HEX [mixed] | srtp INLINE_KEY]
 *
 * With `srtp` a target is `PORT` for plain RTP or `PORT:INLINE_KEY`, the server's key: what is sent there is sealed with the
 * key of the command line, and what comes back counts where the server's key opens it.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { parseRtp, writeRtp } from '../../src/rtp/packet.ts';
import { SrtpReceiver, SrtpSender } from '../../src/rtp/srtp/srtp-stream.ts';
import { percentile } from '../lib/harness.ts';
import { SRTP_SUITE } from '../lib/srtp-suite.ts';

interface Stream {
  readonly socket: Socket;
  readonly offsetsMs: number[];
  lastSequence: number | undefined;
  packets: number;
  /** Undefined for plain RTP. */
  srtp: { readonly sender: SrtpSender; readonly receiver: SrtpReceiver } | undefined;
}

/** What one kind of call sends. */
interface Sound {
  readonly payloadType: number;
  readonly frameTicks: number;
  readonly payload: Uint8Array;
}

interface Call {
  readonly stream: Stream;
  readonly port: number;
  readonly ssrc: number;
  readonly sound: Sound;
}

const FRAME_MS = 20;
const isSecure = process.argv[5] === 'srtp';
const ownKey = isSecure ? (process.argv[6] ?? '') : '';
const [payloadType, clockHz, hex, mixed] = isSecure ? [] : process.argv.slice(5);
const square = new Uint8Array(160).map((_, index) => ((index & 8) === 0 ? 0x11 : 0x91));
const pcmu: Sound = { payloadType: 0, frameTicks: 160, payload: square };
const given: Sound =
  hex === undefined
    ? pcmu
    : {
        payloadType: Number(payloadType),
        frameTicks: Number(clockHz) / 50,
        payload: Buffer.from(hex, 'hex'),
      };
const [calls = 1, warmS = 1, measureS = 1] = process.argv.slice(2).map(Number);
let measuringSinceMs: number | undefined;
let sent = 0;

const streams = await Promise.all(Array.from({ length: calls }, openStream));
const ports = streams.map(({ socket }) => socket.address().port);
console.log(`ports ${ports.join(' ')}`);
createInterface({ input: process.stdin }).once('line', (line) => {
  const targets = line.split(' ').map((target) => target.split(':'));
  const startMs = performance.now();
  streams.forEach((stream, index) => {
    const [port, key] = targets[index] ?? [];
    if (key !== undefined) stream.srtp = srtpOf(key);
    const call = {
      stream,
      port: Number(port),
      ssrc: index + 1,
      sound: isPcmu(index) ? pcmu : given,
    };
    sendOn(call, startMs + (index * FRAME_MS) / calls, 0);
  });
  setTimeout(begin, warmS * 1000);
});

async function openStream(): Promise<Stream> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const stream: Stream = {
    ...{ socket, offsetsMs: [], lastSequence: undefined, packets: 0 },
    srtp: undefined,
  };
  socket.on('message', (datagram) => receive(stream, datagram));
  return stream;
}

/** @param key of the server. */
function srtpOf(key: string): Stream['srtp'] {
  return {
    sender: new SrtpSender({ suite: SRTP_SUITE, inline: ownKey }),
    receiver: new SrtpReceiver({ suite: SRTP_SUITE, inline: key }),
  };
}

/** What is no RTP, or does not pass authentication, counts as if it had not come. */
function receive(stream: Stream, datagram: Uint8Array): void {
  const isRtp = parseRtp(datagram) !== undefined;
  const plain = isRtp && stream.srtp ? stream.srtp.receiver.unprotectRtp(datagram) : datagram;
  const packet = plain && parseRtp(plain);
  if (packet === undefined || measuringSinceMs === undefined) return;
  const step = ((packet.sequence - (stream.lastSequence ?? packet.sequence)) << 16) >> 16;
  stream.packets += step;
  stream.lastSequence = packet.sequence;
  stream.offsetsMs.push(performance.now() - measuringSinceMs - stream.packets * FRAME_MS);
}

/** With `mixed` every second call sends PCMU. */
function isPcmu(index: number): boolean {
  return mixed !== undefined && index % 2 === 1;
}

function sendOn(call: Call, dueMs: number, sequence: number): void {
  const { stream, port, ssrc } = call;
  const { payloadType, frameTicks, payload } = call.sound;
  const header = { payloadType, hasMarker: false, ssrc, sequence: sequence & 0xffff };
  const timestamp = (sequence * frameTicks) >>> 0;
  const plain = writeRtp({ ...header, timestamp, payload });
  const packet = stream.srtp === undefined ? plain : stream.srtp.sender.protectRtp(plain);
  if (packet !== undefined) stream.socket.send(packet, port);
  if (measuringSinceMs !== undefined) sent += 1;
  const nextMs = dueMs + FRAME_MS;
  const waitMs = Math.max(0, nextMs - performance.now());
  setTimeout(() => sendOn(call, nextMs, sequence + 1), waitMs);
}

function begin(): void {
  measuringSinceMs = performance.now();
  console.log('begin');
  setTimeout(end, measureS * 1000);
}

function end(): void {
  console.log('end');
  const late = streams.flatMap(({ offsetsMs }) => {
    const leastMs = Math.min(...offsetsMs);
    return offsetsMs.map((offsetMs) => offsetMs - leastMs);
  });
  const { user, system } = process.cpuUsage();
  console.log(
    JSON.stringify({
      sent,
      received: late.length,
      lost: streams.reduce((sum, each) => sum + lostOf(each), 0),
      silent: streams.filter(({ offsetsMs }) => offsetsMs.length === 0).length,
      ...{ p50: percentile(late, 50), p99: percentile(late, 99), p999: percentile(late, 99.9) },
      drift: percentile(streams.map(driftOf), 50),
      cpuSeconds: (user + system) / 1e6,
    }),
  );
  process.exit(0);
}

function lostOf({ offsetsMs, packets }: Stream): number {
  return offsetsMs.length === 0 ? 0 : packets + 1 - offsetsMs.length;
}

/** How the sender's clock runs, in ms a second: the earliest packet of the last third against that of the first. */
function driftOf({ offsetsMs }: Stream): number {
  const third = Math.floor(offsetsMs.length / 3);
  if (third === 0) return 0;
  const change = Math.min(...offsetsMs.slice(-third)) - Math.min(...offsetsMs.slice(0, third));
  return change / (((offsetsMs.length - third) * FRAME_MS) / 1000);
}
