/** A far end on a real UDP socket: sends voice when told to, keeps what it receives. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { encodeG711 } from '../../src/media/dsp/g711.ts';
import { parseRtp, type RtpPacket, writeRtp } from '../../src/rtp/packet.ts';
import type { AgreedMedia } from '../../src/rtp/sdp-answer.ts';

export class TestPhone {
  readonly received: RtpPacket[] = [];
  readonly #socket: Socket;
  #sequence = 0;
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (datagram) => {
      const packet = parseRtp(datagram);
      if (packet !== undefined) this.received.push(packet);
      for (const { count, resolve } of this.#waiting) if (this.received.length >= count) resolve();
    });
  }

  static async open(address = '127.0.0.1'): Promise<TestPhone> {
    const socket = createSocket('udp4');
    socket.bind(0, address);
    await once(socket, 'listening');
    return new TestPhone(socket);
  }

  /** What signalling would agree on with this phone. */
  get agreed(): AgreedMedia {
    const { address, port } = this.#socket.address();
    return {
      ...{ address, port, rtcpPort: port + 1, isRtcpMuxed: false, codec: 'PCMU', payloadType: 0 },
      ...{ telephoneEventPayloadType: 101, maySend: true, mayReceive: true },
    };
  }

  /** Sends 20 ms of sound. */
  send(pcm: Int16Array, port: number): void {
    this.#sequence += 1;
    const header = { payloadType: 0, hasMarker: false, ssrc: 42, sequence: this.#sequence };
    const payload = encodeG711('PCMU', pcm);
    this.#socket.send(
      writeRtp({ ...header, timestamp: this.#sequence * 160, payload }),
      port,
      '127.0.0.1',
    );
  }

  /** Resolves when so many packets have come. After the first the session has locked its source, and sends there. */
  async untilReceived(count: number): Promise<void> {
    if (this.received.length >= count) return;
    await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }));
  }

  close(): void {
    this.#socket.close();
  }
}
