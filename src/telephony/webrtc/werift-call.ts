/** One browser's connection inside the thread: ICE, DTLS and SRTP by werift, relayed as plain RTP to the media engine. */
import { createSocket, type Socket } from 'node:dgram';
import { MediaStreamTrack, RTCPeerConnection, RTCRtpCodecParameters, type RtpPacket } from 'werift';
import { isLoopback } from '../../lib/local-routes.ts';
import { parseRtp, writeRtp } from '../../rtp/packet.ts';
import { nearestIndex, ReplayWindow, ROLL_OVER } from '../../rtp/srtp/srtp-stream.ts';
import { withAddresses } from './browser-sdp.ts';
import type { ToRelay, UdpPlace } from './relay-thread.ts';

const PCMU = 0;
const LOOPBACK = '127.0.0.1';

interface WeriftCallOptions {
  readonly request: Extract<ToRelay, { kind: 'open' }>;
  /** Inclusive; at least two of them. */
  readonly ports: readonly [first: number, last: number];
  readonly onConnected: () => void;
  readonly onLost: (reason: string) => void;
}

/** One browser's peer connection. */
export class WeriftCall {
  readonly #options: WeriftCallOptions;
  readonly #peer: RTCPeerConnection;
  readonly #toBrowser = new MediaStreamTrack({ kind: 'audio' });
  readonly #relay: Socket = createSocket('udp4');
  readonly #replays = new PacketReplays();
  #isClosed = false;

  constructor(options: WeriftCallOptions) {
    this.#options = options;
    const { ports, request } = options;
    this.#peer = new RTCPeerConnection({
      codecs: { audio: codecsFor(request.telephoneEventPayloadType), video: [] },
      headerExtensions: { audio: [], video: [] },
      iceServers: [],
      icePortRange: [...ports],
      // One socket serves all addresses; the browser learns only those that we add.
      iceUseIpv4: false,
      iceUseIpv6: false,
      iceAdditionalHostAddresses: request.addresses.slice(0, 1),
      ...(request.addresses.every(isLoopback) && { iceInterfaceAddresses: { udp4: LOOPBACK } }),
    });
    this.#peer.addTransceiver(this.#toBrowser, { direction: 'sendrecv' });
    this.#peer.onTrack.subscribe((track) => {
      track.onReceiveRtp.subscribe((packet) => this.#fromBrowser(packet));
    });
    this.#peer.connectionStateChange.subscribe((state) => {
      if (state === 'connected') options.onConnected();
      else if (state === 'failed' || state === 'closed') this.#lose(`the connection ${state}`);
    });
    this.#relay.on('message', (datagram) => this.#toTheBrowser(datagram));
    this.#relay.on('error', (error) => this.#lose(error.message));
  }

  /** @throws {Error} without a free port, or for an unusable offer. */
  async open(): Promise<{ readonly answer: string; readonly relay: UdpPlace }> {
    const { request } = this.#options;
    const relay = await this.#openRelay(request.line);
    await this.#peer.setRemoteDescription({ type: 'offer', sdp: request.offer });
    hostCandidatesOnly(this.#peer);
    await this.#peer.setLocalDescription(await this.#peer.createAnswer());
    const sdp = this.#peer.localDescription?.sdp ?? '';
    if (!/^a=candidate:/m.test(sdp)) throw new Error('no UDP port is free for it');
    return { answer: withAddresses(sdp, request.addresses), relay };
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.allSettled([
      this.#peer.close(),
      new Promise<void>((resolve) => this.#relay.close(() => resolve())),
    ]);
  }

  /** A connected UDP socket: the kernel drops packets from any other source. */
  async #openRelay(line: UdpPlace): Promise<UdpPlace> {
    const relay = this.#relay;
    await new Promise<void>((resolve, reject) => {
      relay.once('error', reject);
      relay.bind(0, line.address, () => relay.connect(line.port, line.address, () => resolve()));
    });
    const { address, port } = relay.address();
    return { address, port };
  }

  #fromBrowser({ header, payload }: RtpPacket): void {
    const { payloadType, sequenceNumber, ssrc } = header;
    const { telephoneEventPayloadType } = this.#options.request;
    const isKnown = payloadType === PCMU || payloadType === telephoneEventPayloadType;
    if (this.#isClosed || !isKnown || !this.#replays.accept(ssrc, sequenceNumber)) return;
    const { marker: hasMarker, timestamp } = header;
    this.#relay.send(
      writeRtp({ payloadType, hasMarker, sequence: sequenceNumber, timestamp, ssrc, payload }),
    );
  }

  /** The session's DTMF and RTCP are dropped: werift makes its own. */
  #toTheBrowser(datagram: Buffer): void {
    if (!this.#isClosed && parseRtp(datagram)?.payloadType === PCMU) {
      this.#toBrowser.writeRtp(datagram);
    }
  }

  #lose(reason: string): void {
    if (!this.#isClosed) this.#options.onLost(reason);
  }
}

function codecsFor(telephoneEventPayloadType: number | undefined): RTCRtpCodecParameters[] {
  const line = { clockRate: 8000, channels: 1 };
  const voice = new RTCRtpCodecParameters({ ...line, mimeType: 'audio/PCMU', payloadType: PCMU });
  if (telephoneEventPayloadType === undefined) return [voice];
  const payloadType = telephoneEventPayloadType;
  const keys = new RTCRtpCodecParameters({
    ...line,
    mimeType: 'audio/telephone-event',
    payloadType,
  });
  return [voice, keys];
}

/** Removes werift's STUN server: without a list of its own it asks one of Google's, and an empty list counts as none. */
export function hostCandidatesOnly(peer: RTCPeerConnection): void {
  for (const { connection } of peer.iceTransports) delete connection.stunServer;
}

/** Tells new packets of a browser from replays: for one SSRC at a time, by the sequence numbers of authenticated packets. */
export class PacketReplays {
  #ssrc: number | undefined;
  #window = new ReplayWindow();

  /** Whether the packet is new; one older than the window is not. */
  accept(ssrc: number, sequence: number): boolean {
    if (ssrc !== this.#ssrc) {
      this.#ssrc = ssrc;
      this.#window = new ReplayWindow();
      // One roll-over up: late packets from before the first one have an index too.
      this.#window.add(ROLL_OVER + sequence);
      return true;
    }
    const index = nearestIndex(this.#window.newest, sequence);
    if (!this.#window.isNew(index)) return false;
    this.#window.add(index);
    return true;
  }
}
