/** `turn-agent.c` again, for machines without a C compiler: same arguments, same lines, timers of the event loop. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { monotonicMs } from '../lib/monotonic.ts';
import { NOMINAL_MS } from '../lib/stub-times.ts';

const FRAME_MS = 20;
const PACKET_BYTES = 172;
const QUIET_BYTE = 0xff;
const VOICE_PACKETS = 3;

const [, mode = 'aligned', replyMs = '400'] = process.argv.slice(2);

class Agent {
  readonly socket: Socket = createSocket('udp4');
  readonly #port: number;
  readonly #packet = Buffer.alloc(PACKET_BYTES);
  #beat: NodeJS.Timeout | undefined;
  #reply: NodeJS.Timeout | undefined;
  #nextMs = monotonicMs() + Math.random() * FRAME_MS;
  #voiced = 0;
  #isTurn = false;
  #left = 0;
  #mark = 0;
  #sent = 0;

  constructor(port: number) {
    this.#port = port;
    this.#packet[0] = 0x80;
    this.socket.on('message', (datagram) => this.#hear(datagram));
    this.#wait();
  }

  #hear(datagram: Buffer): void {
    if (datagram.length !== PACKET_BYTES) return;
    this.#voiced = datagram[20] === QUIET_BYTE ? 0 : this.#voiced + 1;
    if (this.#voiced === VOICE_PACKETS) {
      this.#isTurn = true;
      this.#left = 0;
    }
    if (this.#voiced === 0 || !this.#isTurn) return;
    clearTimeout(this.#reply);
    this.#reply = setTimeout(() => this.#begin(), NOMINAL_MS);
  }

  #begin(): void {
    this.#isTurn = false;
    this.#left = Number(replyMs) / FRAME_MS;
    this.#mark = (this.#mark + 1) & 7;
    if (mode !== 'aligned') return;
    clearTimeout(this.#beat);
    this.#nextMs = monotonicMs();
    this.#say();
  }

  #wait(): void {
    this.#beat = setTimeout(() => this.#say(), Math.max(0, this.#nextMs - monotonicMs()));
  }

  #say(): void {
    const packet = this.#packet;
    for (let index = 12; index < PACKET_BYTES; index += 1) {
      packet[index] = this.#left > 0 ? 0x10 | this.#mark | (index & 8 ? 0x80 : 0) : QUIET_BYTE;
    }
    packet.writeUInt16BE(this.#sent & 0xffff, 2);
    packet.writeUInt32BE((this.#sent * 160) >>> 0, 4);
    this.socket.send(packet, this.#port, '127.0.0.1');
    this.#sent += 1;
    if (this.#left > 0) this.#left -= 1;
    this.#nextMs += FRAME_MS;
    this.#wait();
  }
}

const input = createInterface({ input: process.stdin });
input.once('close', () => process.exit(0));
const [line] = await once(input, 'line');
const agents = String(line)
  .split(' ')
  .map((port) => new Agent(Number(port)));
for (const { socket } of agents) {
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
}
console.log(`ports ${agents.map(({ socket }) => socket.address().port).join(' ')}`);
