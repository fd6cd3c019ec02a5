/** A caller whose sound is in the test's own hands: SIP by our user agent, RTP by bare sockets of any loopback address. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { decodeG711, encodeG711 } from '../../src/media/dsp/g711.ts';
import { writeTelephoneEvent } from '../../src/rtp/dtmf.ts';
import { parseRtp, type RtpPacket, writeRtp } from '../../src/rtp/packet.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { OURS, THEIRS, tone } from './plane.ts';

const FRAME_MS = 20;
const FRAME_SAMPLES = 160;
const TELEPHONE_EVENT = 101;

/** A port that RTP comes to and leaves from. */
export class RtpPort {
  /** Packets of voice that came. */
  heardPackets = 0;
  /** Their sound, 8 kHz. */
  heard = new Int16Array();
  readonly #address: string;
  readonly #socket: Socket = createSocket('udp4');
  readonly #ssrc = Math.floor(Math.random() * 2 ** 32);
  #sequence = Math.floor(Math.random() * 2 ** 15);

  constructor(address: string) {
    this.#address = address;
  }

  async start(): Promise<this> {
    this.#socket.on('message', (datagram) => this.#take(datagram));
    this.#socket.bind(0, this.#address);
    await once(this.#socket, 'listening');
    return this;
  }

  stop(): void {
    this.#socket.close();
  }

  /** What its owner says of it in an offer, or of another place. */
  offer({ address = this.#address, port = this.#socket.address().port } = {}): string {
    return [
      ...['v=0', `o=- 1 1 IN IP4 ${address}`, 's=-', `c=IN IP4 ${address}`, 't=0 0'],
      ...[`m=audio ${port} RTP/AVP 0 ${TELEPHONE_EVENT}`, 'a=rtpmap:0 PCMU/8000'],
      ...[`a=rtpmap:${TELEPHONE_EVENT} telephone-event/8000`, ''],
    ].join('\r\n');
  }

  /** Sends a tone in real time. */
  async speak(hz: number, durationMs: number, port: number): Promise<void> {
    const pcm = tone(hz, durationMs);
    for (let at = 0; at < pcm.length; at += FRAME_SAMPLES) {
      const payload = encodeG711('PCMU', pcm.subarray(at, at + FRAME_SAMPLES));
      this.#send({ payload, payloadType: 0, hasMarker: at === 0 }, port);
      await wait(FRAME_MS);
    }
  }

  /** Sends packets of a tone, each with the marker bit, at four times real time. */
  async rave(hz: number, durationMs: number, port: number): Promise<void> {
    const payload = encodeG711('PCMU', tone(hz, FRAME_MS));
    for (let passedMs = 0; passedMs < durationMs; passedMs += FRAME_MS / 4) {
      this.#send({ payload, payloadType: 0, hasMarker: true }, port);
      await wait(FRAME_MS / 4);
    }
  }

  /** Presses a key as nothing decent does: each report with a packet of marked voice in front of it. */
  press(event: number, port: number): void {
    for (let step = 1; step <= 8; step += 1) {
      const silence = new Uint8Array(FRAME_SAMPLES).fill(0xff);
      this.#send({ payload: silence, payloadType: 0, hasMarker: true }, port);
      const report = { event, isEnd: step > 5, durationSamples: step * FRAME_SAMPLES };
      const payload = writeTelephoneEvent(report);
      this.#send({ payload, payloadType: TELEPHONE_EVENT, hasMarker: step === 1 }, port);
    }
  }

  #send(packet: Pick<RtpPacket, 'payload' | 'payloadType' | 'hasMarker'>, port: number): void {
    this.#sequence = (this.#sequence + 1) & 0xffff;
    const own = { sequence: this.#sequence, timestamp: this.#sequence * FRAME_SAMPLES };
    this.#socket.send(writeRtp({ ...packet, ...own, ssrc: this.#ssrc }), port, '127.0.0.1');
  }

  #take(datagram: Buffer): void {
    const packet = parseRtp(datagram);
    if (packet?.payloadType !== 0) return;
    this.heardPackets += 1;
    const pcm = decodeG711('PCMU', packet.payload);
    this.heard = Int16Array.from([...this.heard.slice(-7 * FRAME_SAMPLES), ...pcm]);
  }
}

/** Calls from 127.0.0.1. */
export class BareCaller {
  readonly #agent = new UserAgent({ listen: [{ protocol: 'UDP', address: '127.0.0.1', port: 0 }] });

  start(): Promise<void> {
    return this.#agent.start();
  }

  stop(): Promise<void> {
    return this.#agent.stop();
  }

  /** Calls with that offer. @returns the port that the other side takes RTP at, and what hangs up. */
  async call(hostPort: string, offer: string) {
    const invite = this.#agent.invite({
      uri: `sip:${OURS}@${hostPort}`,
      from: `<sip:${THEIRS}@127.0.0.1>`,
      acknowledge: 'automatic',
      body: offer,
    });
    const { response, dialog } = await invite.outcome;
    if (dialog === null) throw new Error(`The call was refused with ${response.status}`);
    const [, port] = /^m=audio (\d+) /m.exec(response.body.toString()) ?? [];
    return { port: Number(port), hangUp: () => dialog.bye() };
  }
}
