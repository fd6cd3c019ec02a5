/** The benchmark's caller without a compiler: what its calls send, on real sockets. */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseRtp } from '../src/rtp/packet.ts';

const CALLER = fileURLToPath(new URL('../bench/tools/rtp-caller.ts', import.meta.url));

/** A port that notes the sound that comes: payload type and samples of the RTP clock between two packets. */
async function openPort() {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  const sounds = new Set<string>();
  let previous: number | undefined;
  socket.on('message', (datagram) => {
    const packet = parseRtp(datagram);
    if (packet === undefined) return;
    const { payloadType, timestamp } = packet;
    if (previous !== undefined) sounds.add(`${payloadType} by ${timestamp - previous}`);
    previous = timestamp;
  });
  await once(socket, 'listening');
  return { socket, sounds };
}

test.each([
  ['PCMU unless given', [], ['0 by 160', '0 by 160']],
  ['what is given', ['111', '48000', '0801'], ['111 by 960', '111 by 960']],
  [
    'PCMU on every second call where mixed',
    ['111', '48000', '0801', 'mixed'],
    ['111 by 960', '0 by 160'],
  ],
])('rtp-caller sends %s', async (_what, sound, expected) => {
  const ports = [await openPort(), await openPort()];
  const caller = spawn(process.execPath, [CALLER, '2', '0.1', '0.2', ...sound]);
  createInterface({ input: caller.stdout }).once('line', () => {
    caller.stdin.write(`${ports.map(({ socket }) => socket.address().port).join(' ')}\n`);
  });

  await once(caller, 'exit');
  for (const { socket } of ports) socket.close();

  expect(ports.map(({ sounds }) => [...sounds])).toEqual(expected.map((each) => [each]));
});
