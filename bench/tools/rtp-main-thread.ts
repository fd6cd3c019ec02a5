/** Media on the main thread, done well: absolute deadlines, so that a late packet makes no later one late. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { encodeG711 } from '../../src/media/g711.ts';
import { writeRtp } from '../../src/rtp/packet.ts';

const FRAME_MS = 20;

/** `rtp-main-thread N`: reads N target ports from one line, prints `ports p1 … pN`, and runs until its input ends. */
const [calls = '1'] = process.argv.slice(2);
const input = createInterface({ input: process.stdin });
input.once('close', () => process.exit(0));
const [line = ''] = await once(input, 'line');
const targets = String(line).split(' ').map(Number);

const sockets: Socket[] = [];
for (let opened = 0; opened < Number(calls); opened += 1) {
  const socket = createSocket('udp4');
  socket.on('message', () => undefined);
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  sockets.push(socket);
}
console.log(`ports ${sockets.map((socket) => socket.address().port).join(' ')}`);

const speech = Int16Array.from({ length: 160 }, (_, sample) => ((sample * 409) % 16_000) - 8000);
const startedMs = performance.now();
let sequence = 0;
sendDue();

/** Sends all frames that are due, and comes back for the next. */
function sendDue(): void {
  const due = Math.floor((performance.now() - startedMs) / FRAME_MS);
  for (; sequence <= due; sequence += 1) sendFrame();
  setTimeout(sendDue, Math.max(0, startedMs + sequence * FRAME_MS - performance.now()));
}

function sendFrame(): void {
  sockets.forEach((socket, index) => {
    const header = { payloadType: 0, hasMarker: false, ssrc: index, sequence: sequence & 0xffff };
    const payload = encodeG711('PCMU', speech);
    const timestamp = (sequence * speech.length) >>> 0;
    const datagram = writeRtp({ ...header, timestamp, payload });
    socket.send(datagram, targets[index] ?? 0, '127.0.0.1');
  });
}
