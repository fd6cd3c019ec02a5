/** A browser's half of a call, by werift: offers, takes the answer, speaks, presses keys, and keeps what it hears. */
import { MediaStreamTrack, RTCPeerConnection, RTCRtpCodecParameters, RtpHeader } from 'werift';
import { encodeG711 } from '../../../src/media/dsp/g711.ts';
import { writeRtp } from '../../../src/rtp/packet.ts';
import { hostCandidatesOnly } from '../../../src/telephony/webrtc/werift-call.ts';
import { eventually } from '../../sip/user-agents.ts';

const FRAME_SAMPLES = 160;
const TELEPHONE_EVENT = 126;

/** A tone that any detector of voices by loudness takes for one. */
const TONE = Int16Array.from({ length: FRAME_SAMPLES }, (_, index) =>
  Math.round(8000 * Math.sin((2 * Math.PI * 400 * index) / 8000)),
);

export class BrowserPeer {
  /** Payloads of the PCMU packets that came, in order. */
  readonly heard: Buffer[] = [];
  readonly #peer: RTCPeerConnection;
  readonly #track = new MediaStreamTrack({ kind: 'audio' });
  #sequence = 1;
  #timestamp = 160;
  #timer: NodeJS.Timeout | undefined;
  #onPacket: (datagram: Buffer) => void = () => {};

  constructor() {
    const line = { clockRate: 8000, channels: 1 };
    this.#peer = new RTCPeerConnection({
      codecs: {
        audio: [
          new RTCRtpCodecParameters({ ...line, mimeType: 'audio/PCMU', payloadType: 0 }),
          new RTCRtpCodecParameters({
            ...line,
            mimeType: 'audio/telephone-event',
            payloadType: TELEPHONE_EVENT,
          }),
        ],
        video: [],
      },
      headerExtensions: { audio: [], video: [] },
      iceServers: [],
      iceUseIpv4: false,
      iceUseIpv6: false,
      iceAdditionalHostAddresses: ['127.0.0.1'],
      iceInterfaceAddresses: { udp4: '127.0.0.1' },
    });
    this.#peer.addTransceiver(this.#track, { direction: 'sendrecv' });
    hostCandidatesOnly(this.#peer);
    this.#peer.onTrack.subscribe((track) => {
      track.onReceiveRtp.subscribe((packet) => {
        const { header, payload } = packet;
        if (header.payloadType !== 0) return;
        this.heard.push(payload);
        this.#onPacket(packet.serialize());
      });
    });
  }

  get state(): string {
    return this.#peer.connectionState;
  }

  async offer(): Promise<string> {
    await this.#peer.setLocalDescription(await this.#peer.createOffer());
    return this.#peer.localDescription?.sdp ?? '';
  }

  async take(answer: string): Promise<void> {
    await this.#peer.setRemoteDescription({ type: 'answer', sdp: answer });
  }

  async connected(): Promise<void> {
    await eventually(() => this.state === 'connected', 'the browser is connected');
  }

  /** Sets the one listener of PCMU packets that come, in plain RTP. */
  onPacket(listener: (datagram: Buffer) => void): void {
    this.#onPacket = listener;
  }

  /** Sends a PCMU packet, given in plain RTP. */
  send(datagram: Buffer): void {
    this.#track.writeRtp(datagram);
  }

  /** Sends a tone from now on, 20 ms at a time. */
  speak(): void {
    const payload = encodeG711('PCMU', TONE);
    this.#timer = setInterval(() => this.#send(0, payload), 20);
  }

  hush(): void {
    clearInterval(this.#timer);
  }

  /** Presses a key for 100 ms, as RFC 4733 has it. */
  press(digit: string): void {
    const event = '0123456789*#ABCD'.indexOf(digit);
    const timestamp = this.#timestamp;
    for (const [duration, isEnd] of [
      [160, 0],
      [400, 0],
      [800, 0x80],
      [800, 0x80],
      [800, 0x80],
    ] as const) {
      const payload = Uint8Array.of(event, isEnd | 10, duration >> 8, duration & 0xff);
      this.#send(TELEPHONE_EVENT, payload, timestamp);
    }
  }

  /** Whether anything but silence has come. */
  get hasHeardSound(): boolean {
    return this.heard.some((payload) => payload.some((byte) => (byte | 0x80) < 0xf0));
  }

  async close(): Promise<void> {
    this.hush();
    await this.#peer.close();
  }

  #send(payloadType: number, payload: Uint8Array, timestamp = this.#timestamp): void {
    const rtp = { payloadType, hasMarker: false, sequence: this.#sequence, timestamp, ssrc: 7 };
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#timestamp += FRAME_SAMPLES;
    if (payloadType === 0) {
      this.send(Buffer.from(writeRtp({ ...rtp, payload })));
      return;
    }
    // A track's packets get the type of its voice, so keys go past it.
    const sender = this.#peer.getTransceivers()[0]?.sender;
    const { sequence: sequenceNumber } = rtp;
    if (sender === undefined) return;
    const { ssrc } = sender;
    const header = new RtpHeader({ payloadType, sequenceNumber, timestamp, ssrc });
    void sender.dtlsTransport.sendRtp(Buffer.from(payload), header);
  }
}
