/** Lines of RTP on the thread that calls this: for tools that show how media is usually done. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { encodeG711 } from '../../src/media/dsp/g711.ts';
import { writeRtp } from '../../src/rtp/packet.ts';

export const FRAME_MS = 20;

const speech = Int16Array.from({ length: 160 }, (_, sample) => ((sample * 409) % 16_000) - 8000);

/**
 * Reads target ports from one line of the input, opens as many sockets, and prints `ports p1 … pN`. The process ends with
 * its input.
 *
 * @returns sends a packet of PCMU on every line; `sequence` has no upper limit.
 */
export async function openMainThreadLines(): Promise<(sequence: number) => void> {
  const input = createInterface({ input: process.stdin });
  input.once('close', () => process.exit(0));
  const [line = ''] = await once(input, 'line');
  const targets = String(line).split(' ').map(Number);
  const sockets: Socket[] = [];
  for (const _ of targets) sockets.push(await openSocket());
  console.log(`ports ${sockets.map((socket) => socket.address().port).join(' ')}`);
  return (sequence) => {
    sockets.forEach((socket, index) => {
      const header = { payloadType: 0, hasMarker: false, ssrc: index, sequence: sequence & 0xffff };
      const payload = encodeG711('PCMU', speech);
      const timestamp = (sequence * speech.length) >>> 0;
      socket.send(writeRtp({ ...header, timestamp, payload }), targets[index] ?? 0, '127.0.0.1');
    });
  };
}

async function openSocket(): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.on('message', () => undefined);
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}
