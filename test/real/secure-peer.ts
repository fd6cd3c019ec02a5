/** A carrier's side of a call in SRTP with keys in the description, by werift's implementation: PCMU both ways. */
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { RtpHeader, SrtpSession } from 'werift';
import { decodeG711, encodeG711 } from '../../src/media/dsp/g711.ts';
import { parseRtp } from '../../src/rtp/packet.ts';
import { offer } from './real-gateway.ts';

/** AES_CM_128_HMAC_SHA1_80. @see RFC 5764 section 4.1.2 */
const PROFILE = 1;
const KEY_BYTES = 16;
const PACKET_SAMPLES = 160;

export class SecurePeer {
  /** The newest sound that could be decrypted, 8 kHz. */
  heard = new Int16Array();
  /** Packets that could be read without decrypting them, and packets that could not be decrypted. */
  plain = 0;
  undecipherable = 0;
  readonly #socket: Socket = createSocket('udp4');
  readonly #ours = randomBytes(KEY_BYTES + 14);
  #timer: NodeJS.Timeout | undefined;

  async start(): Promise<void> {
    this.#socket.bind(0, '127.0.0.1');
    await once(this.#socket, 'listening');
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#socket.close();
  }

  get offer(): string {
    const { port } = this.#socket.address();
    const key = this.#ours.toString('base64');
    return offer(
      `m=audio ${port} RTP/SAVP 0 101`,
      `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}`,
    );
  }

  /** Sends a tone in a loop to the answering side, and receives. @param pcm whole packets of 20 ms. */
  talk(answer: string, pcm: Int16Array): void {
    const [, key = ''] =
      /a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:([A-Za-z0-9+/=]+)/.exec(answer) ?? [];
    const [, port = '0'] = /m=audio (\d+) RTP\/SAVP/.exec(answer) ?? [];
    const theirs = Buffer.from(key, 'base64');
    const session = new SrtpSession({
      profile: PROFILE,
      keys: {
        localMasterKey: this.#ours.subarray(0, KEY_BYTES),
        localMasterSalt: this.#ours.subarray(KEY_BYTES),
        remoteMasterKey: theirs.subarray(0, KEY_BYTES),
        remoteMasterSalt: theirs.subarray(KEY_BYTES, KEY_BYTES + 14),
      },
    });
    this.#socket.on('message', (datagram) => this.#hear(session, datagram));
    let count = 0;
    this.#timer = setInterval(() => {
      const at = (count * PACKET_SAMPLES) % pcm.length;
      const payload = encodeG711('PCMU', pcm.subarray(at, at + PACKET_SAMPLES));
      const header = new RtpHeader({
        ...{ payloadType: 0, sequenceNumber: count & 0xffff, ssrc: 77 },
        timestamp: count * PACKET_SAMPLES,
      });
      count += 1;
      this.#socket.send(session.encrypt(Buffer.from(payload), header), Number(port), '127.0.0.1');
    }, 20);
  }

  #hear(session: SrtpSession, datagram: Buffer): void {
    // The tag of 80 bits behind the payload.
    if (parseRtp(datagram)?.payload.length === PACKET_SAMPLES) this.plain += 1;
    try {
      const packet = parseRtp(session.decrypt(datagram));
      if (packet?.payloadType !== 0) return;
      const pcm = decodeG711('PCMU', packet.payload);
      this.heard = Int16Array.from([...this.heard.slice(-7 * PACKET_SAMPLES), ...pcm]);
    } catch {
      this.undecipherable += 1;
    }
  }
}
