/** Media of one browser call: a connection in the thread of browser calls, and an RTP session of the media engine. */
import { randomInt } from 'node:crypto';
import { type Clock, within } from '../../lib/clock.ts';
import type { MediaSession } from '../../media/audio-stream.ts';
import type { Direction } from '../../rtp/sdp.ts';
import type { AgreedMedia } from '../../rtp/sdp-answer.ts';
import { LinkedAudio, type MediaEndpoint, MediaError } from '../media-gateway.ts';
import { type BrowserOffer, directionFor, readOffer, withOurSide } from './browser-sdp.ts';
import type { CallMessage, RelayThread, UdpPlace } from './relay-thread.ts';

/** Time limit of ICE and DTLS, which take less than a second. */
const CONNECT_MS_MAX = 15_000;

const CLOSE_MS_MAX = 2_000;

interface WeriftEndpointOptions {
  readonly thread: RelayThread;
  /** Identifier of the call in the thread. */
  readonly call: number;
  readonly session: MediaSession;
  readonly relay: UdpPlace;
  readonly offer: BrowserOffer;
  /** The thread's answer to it. */
  readonly answer: string;
  readonly clock: Clock;
  /** Called once, when the endpoint is closed. */
  readonly onClosed: () => void;
}

/** Media endpoint of a browser call. */
export class WeriftEndpoint implements MediaEndpoint {
  readonly audio: GatedAudio;
  readonly #options: WeriftEndpointOptions;
  readonly #sessionId = randomInt(1, 2 ** 47);
  readonly #connectionEnded = Promise.withResolvers<void>();
  readonly #cancelTimeout: () => void;
  #offer: BrowserOffer;
  #version = 1;
  #localSdp: string;
  #isOfferPending = false;
  #closed: Promise<void> | undefined;

  constructor(options: WeriftEndpointOptions) {
    const { thread, call, session, clock } = options;
    this.#options = options;
    this.#offer = options.offer;
    this.audio = new GatedAudio(session);
    this.#localSdp = this.#describe(directionFor(options.offer));
    this.#cancelTimeout = clock.after(CONNECT_MS_MAX, () => this.audio.mediaLost());
    session.setRemote(this.#agreed());
    thread.attach(call, (message) => this.#receive(message));
  }

  get session(): MediaSession {
    return this.#options.session;
  }

  get localSdp(): string {
    return this.#localSdp;
  }

  async negotiate(remoteSdp: string): Promise<string> {
    const offer = readOffer(remoteSdp);
    if (offer.connection !== this.#offer.connection) {
      throw new MediaError('Cannot change the session: the browser wants another connection', 488);
    }
    this.#offer = offer;
    this.#options.session.setRemote(this.#agreed());
    if (this.#isOfferPending) this.#isOfferPending = false;
    else this.#say(directionFor(offer));
    return this.#localSdp;
  }

  offer(): string {
    this.#isOfferPending = true;
    this.#say('sendrecv');
    return this.#localSdp;
  }

  record(path: string): void {
    this.#options.session.record(path);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { thread, call, session, clock, onClosed } = this.#options;
    this.#cancelTimeout();
    thread.send({ kind: 'close', call });
    const ended = within(clock, CLOSE_MS_MAX, this.#connectionEnded.promise);
    // A busy or dead thread releases its ports later; the recording is complete all the same.
    await Promise.all([session.close(), ended.catch(() => undefined)]);
    thread.detach(call);
    onClosed();
  }

  #receive(message: CallMessage): void {
    switch (message.kind) {
      case 'connected':
        this.#cancelTimeout();
        this.audio.open();
        break;
      case 'lost':
      case 'gone':
        this.audio.mediaLost();
        if (message.kind === 'gone') this.#connectionEnded.resolve();
        break;
      case 'closed':
        this.#connectionEnded.resolve();
        break;
      default:
        break;
    }
  }

  #agreed(): AgreedMedia {
    const { address, port } = this.#options.relay;
    const { telephoneEventPayloadType, doesListen, doesSpeak } = this.#offer;
    return {
      address,
      port,
      rtcpPort: port,
      isRtcpMuxed: true,
      codec: 'PCMU',
      payloadType: 0,
      ...(telephoneEventPayloadType !== undefined && { telephoneEventPayloadType }),
      maySend: doesListen,
      mayReceive: doesSpeak,
    };
  }

  /** The version of a description grows exactly when the description changes. RFC 3264, 8. */
  #say(direction: Direction): void {
    if (this.#describe(direction) === this.#localSdp) return;
    this.#version += 1;
    this.#localSdp = this.#describe(direction);
  }

  #describe(direction: Direction): string {
    const ours = { sessionId: this.#sessionId, version: this.#version, direction };
    return withOurSide(this.#options.answer, ours);
  }
}

/** Limit of queued audio calls: a greeting of ten minutes. */
const WAITING_MAX = 10_000;

/**
 * Queues audio until ICE and DTLS are complete, so that the greeting is heard from its start: the browser needs our
 * answer before it can connect.
 */
class GatedAudio extends LinkedAudio {
  /** Undefined once the gate is open. */
  #waiting: (() => void)[] | undefined = [];

  /** Plays the queue, and passes everything on from then on. Safe to call twice. */
  open(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const say of waiting) say();
  }

  override begin(generation: number): void {
    this.#pass(() => super.begin(generation));
  }

  override say(generation: number, pcm: Int16Array): void {
    this.#pass(() => super.say(generation, pcm));
  }

  override finish(generation: number): void {
    this.#pass(() => super.finish(generation));
  }

  override drop(generation: number): void {
    this.#pass(() => super.drop(generation));
  }

  override resume(generation: number): void {
    this.#pass(() => super.resume(generation));
  }

  override setPauseAfter(voiceMs: number | null): void {
    this.#pass(() => super.setPauseAfter(voiceMs));
  }

  override sendDigits(digits: string): void {
    this.#pass(() => super.sendDigits(digits));
  }

  #pass(deed: () => void): void {
    if (this.#waiting === undefined) deed();
    else if (this.#waiting.length < WAITING_MAX) this.#waiting.push(deed);
  }
}
