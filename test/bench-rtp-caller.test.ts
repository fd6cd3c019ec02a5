/** The benchmark's caller without a compiler: what its calls send, on real sockets. */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseRtp, writeRtp } from '../src/rtp/packet.ts';
import { SrtpReceiver, SrtpSender } from '../src/rtp/srtp/srtp-stream.ts';
import { inlineBytesOf } from '../src/rtp/srtp/transform.ts';

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

const SUITE = 'AES_CM_128_HMAC_SHA1_80';
const [CALLERS_KEY, SERVERS_KEY] = [1, 2].map((fill) =>
  Buffer.alloc(inlineBytesOf(SUITE), fill).toString('base64'),
) as [string, string];

/** A port of a server with SRTP: opens what comes, and answers each packet with what `answer` makes of it. */
async function openSecurePort(answer: (sealed: Buffer, opened: number) => Buffer) {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  const receiver = new SrtpReceiver({ suite: SUITE, inline: CALLERS_KEY });
  const sender = new SrtpSender({ suite: SUITE, inline: SERVERS_KEY });
  const seen = { received: 0, sequences: [] as number[] };
  socket.on('message', (datagram, { port }) => {
    seen.received += 1;
    const packet = parseRtp(receiver.unprotectRtp(datagram) ?? Buffer.alloc(0));
    if (packet === undefined) return;
    seen.sequences.push(packet.sequence);
    const header = { payloadType: 0, hasMarker: false, sequence: seen.sequences.length, ssrc: 7 };
    const plain = writeRtp({ ...header, timestamp: 0, payload: new Uint8Array(160) });
    const sealed = sender.protectRtp(plain);
    if (sealed !== undefined) socket.send(answer(sealed, seen.sequences.length), port, '127.0.0.1');
  });
  await once(socket, 'listening');
  return { socket, seen };
}

/** One call with SRTP. @returns what the caller sent, and its report. */
async function secureCall(answer: (sealed: Buffer, opened: number) => Buffer) {
  const { socket, seen } = await openSecurePort(answer);
  const caller = spawn(process.execPath, [CALLER, '1', '0.2', '0.5', 'srtp', CALLERS_KEY]);
  const lines: string[] = [];
  createInterface({ input: caller.stdout }).on('line', (line) => {
    lines.push(line);
    if (line.startsWith('ports')) {
      caller.stdin.write(`${socket.address().port}:${SERVERS_KEY}\n`);
    }
  });
  await once(caller, 'close');
  socket.close();
  return { ...seen, report: JSON.parse(lines.at(-1) ?? '{}') };
}

/** A packet that was changed on its way. */
function tampered(sealed: Buffer): Buffer {
  const changed = Buffer.from(sealed);
  changed.writeUInt8(changed.readUInt8(20) ^ 1, 20);
  return changed;
}

test('rtp-caller with srtp seals every packet under a sequence number of its own, and opens what comes back', async () => {
  const { received, sequences, report } = await secureCall((sealed) => sealed);

  expect(received).toBeGreaterThan(10);
  expect(sequences).toEqual(Array.from({ length: received }, (_, at) => at));
  expect(report).toMatchObject({ lost: 0, silent: 0 });
  expect(report.received).toBeGreaterThan(5);
});

test('rtp-caller with srtp counts packets that do not pass authentication as lost', async () => {
  const { report } = await secureCall((sealed, opened) =>
    opened % 2 === 0 ? tampered(sealed) : sealed,
  );

  expect(report.received).toBeGreaterThan(3);
  expect(report.lost).toBe(report.received - 1);
});

test('rtp-caller with srtp counts a server without authentication tags as silent', async () => {
  const { report } = await secureCall((sealed) => sealed.subarray(0, 172));

  expect(report).toMatchObject({ received: 0, silent: 1 });
});
