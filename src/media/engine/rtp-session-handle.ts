/** Main thread's side of an RTP session: sends requests to its worker, and emits the worker's events. */
import type { Clock } from '../../lib/clock.ts';
import type { AgreedMedia } from '../../rtp/sdp-answer.ts';
import {
  type AudioEvent,
  type AudioStats,
  LINE_RATE_HZ,
  type MediaSession,
  type SoundTap,
} from '../audio-stream.ts';
import type { LevelMeter } from '../dsp/level-meter.ts';
import { ReceiveRing } from '../sound-rings.ts';
import type { MediaWorkerHandle, SessionMessage, ToWorker } from './media-worker-handle.ts';

const NO_STATS: AudioStats = {
  packetsReceived: 0,
  packetsSent: 0,
  packetsLost: 0,
  packetsRejected: 0,
  jitterMs: 0,
};

type Generational = Extract<ToWorker, { generation: number }>['kind'];

/** One RTP session, as the main thread sees it. */
export class RtpSessionHandle implements MediaSession {
  readonly heard: ReceiveRing;
  readonly meter: LevelMeter;
  readonly tap: SoundTap = { open: () => this.#openTap(), close: () => this.#closeTap() };
  readonly localPort: number;
  readonly localAddress: string;
  readonly #clock: Clock;
  readonly #sessionId: number;
  readonly #worker: MediaWorkerHandle;
  readonly #said = new SaidSpeech();
  readonly #waiting = new Map<number, (stats: AudioStats) => void>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #listeners: ((event: AudioEvent) => void)[] = [];
  #stats = NO_STATS;
  #requests = 0;
  #played: ReceiveRing | undefined;
  #isClosing = false;
  #isHeld: boolean;
  #hasArrived = false;
  #agreed: AgreedMedia | undefined;

  constructor(options: {
    readonly clock: Clock;
    readonly sessionId: number;
    readonly worker: MediaWorkerHandle;
    readonly heard: ReceiveRing;
    readonly meter: LevelMeter;
    readonly localPort: number;
    readonly localAddress: string;
    /** Whether nothing is sent until `confirm`; false when not given. */
    readonly isHeld?: boolean;
  }) {
    this.heard = options.heard;
    this.meter = options.meter;
    this.localPort = options.localPort;
    this.localAddress = options.localAddress;
    this.#clock = options.clock;
    this.#sessionId = options.sessionId;
    this.#worker = options.worker;
    this.#isHeld = options.isHeld ?? false;
  }

  onEvent(listener: (event: AudioEvent) => void): void {
    this.#listeners.push(listener);
  }

  setRemote(agreed: AgreedMedia): void {
    this.#agreed = agreed;
    const told = this.#isHeld ? { ...agreed, maySend: false } : agreed;
    this.#tell({ kind: 'remote', sessionId: this.#sessionId, agreed: told });
  }

  confirm(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    if (this.#agreed !== undefined) this.setRemote(this.#agreed);
  }

  get hasArrived(): boolean {
    return this.#hasArrived;
  }

  begin(generation: number): void {
    this.#tellOf('begin', generation);
  }

  say(generation: number, pcm: Int16Array): void {
    if (this.#isClosing) return;
    const aheadMs = this.#said.add(generation, pcm.length, this.#clock.nowMs());
    this.#worker.say({ sessionId: this.#sessionId, generation, pcm, aheadMs });
  }

  finish(generation: number): void {
    this.#tellOf('finish', generation);
  }

  drop(generation: number): void {
    this.#tellOf('drop', generation);
  }

  resume(generation: number): void {
    this.#tellOf('resume', generation);
  }

  setPauseAfter(voiceMs: number | null): void {
    this.#tell({ kind: 'pause-after', sessionId: this.#sessionId, voiceMs });
  }

  setPrivate(isPrivate: boolean): void {
    this.#tell({ kind: 'private', sessionId: this.#sessionId, isPrivate });
  }

  sendDigits(digits: string): void {
    this.#tell({ kind: 'digits', sessionId: this.#sessionId, digits });
  }

  record(path: string): void {
    // The worker may be busy: the recording begins now.
    this.#tell({ kind: 'record', sessionId: this.#sessionId, path, atMs: this.#clock.nowMs() });
  }

  setBackground(pcm: Int16Array | undefined): void {
    this.#tell({ kind: 'background', sessionId: this.#sessionId, pcm });
  }

  feedFrom(other: MediaSession | undefined): void {
    this.#tell({ kind: 'feed', sessionId: this.#sessionId, source: this.#near(other) });
  }

  mixWith(other: MediaSession | undefined): void {
    this.#tell({ kind: 'mix', sessionId: this.#sessionId, other: this.#near(other) });
  }

  /** @returns the newest figures, the last ones after `close`. */
  stats(): Promise<AudioStats> {
    if (this.#isClosing) return Promise.resolve(this.#stats);
    this.#requests += 1;
    const request = this.#requests;
    return new Promise((resolve) => {
      this.#waiting.set(request, resolve);
      this.#tell({ kind: 'stats', sessionId: this.#sessionId, request });
    });
  }

  close(): Promise<void> {
    if (!this.#isClosing) {
      // The last figures come before the end.
      void this.stats();
      this.#tell({ kind: 'close', sessionId: this.#sessionId });
      this.#isClosing = true;
    }
    return this.#closed.promise;
  }

  /** Takes a message of the worker. */
  handle(message: SessionMessage): void {
    switch (message.kind) {
      case 'event':
        if (message.event.kind === 'media-arrived') {
          this.#hasArrived = true;
          this.confirm();
        }
        this.#emit(message.event);
        break;
      case 'stats':
        this.#stats = message.stats;
        this.#waiting.get(message.request)?.(message.stats);
        this.#waiting.delete(message.request);
        break;
      case 'fault':
      case 'gone':
        this.#lose();
        break;
      case 'closed':
        this.#end();
        break;
      default:
        break;
    }
  }

  /** Number of a session on the same thread. */
  #near(other: MediaSession | undefined): number | undefined {
    if (other === undefined) return undefined;
    if (other instanceof RtpSessionHandle && other.#worker === this.#worker)
      return other.#sessionId;
    throw new RangeError('Cannot join two sessions: they are not on one thread');
  }

  #openTap(): ReceiveRing {
    if (this.#played !== undefined) return this.#played;
    this.#played = new ReceiveRing();
    this.#tell({ kind: 'tap', sessionId: this.#sessionId, played: this.#played.buffer });
    return this.#played;
  }

  #closeTap(): void {
    if (this.#played === undefined) return;
    this.#played = undefined;
    this.#tell({ kind: 'tap', sessionId: this.#sessionId, played: null });
  }

  #emit(event: AudioEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Ends a session that was lost without `close`. */
  #lose(): void {
    const wasClosing = this.#isClosing;
    this.#isClosing = true;
    if (!wasClosing) this.#emit({ kind: 'media-lost' });
    this.#end();
  }

  #tellOf(kind: Exclude<Generational, 'say'>, generation: number): void {
    this.#tell({ kind, sessionId: this.#sessionId, generation });
  }

  #tell(message: ToWorker): void {
    if (!this.#isClosing) this.#worker.tell(message);
  }

  /** Answers all waiting requests. */
  #end(): void {
    for (const resolve of this.#waiting.values()) resolve(this.#stats);
    this.#waiting.clear();
    this.#closed.resolve();
  }
}

/** Estimates how long the audio said to a session lasts, at the least: playout may start late or pause, but is never faster. */
export class SaidSpeech {
  #generation = Number.NaN;
  #lastsUntilMs = 0;

  /** Adds to a reply. @returns the least time that its earlier audio still lasts, in milliseconds. */
  add(generation: number, samples: number, nowMs: number): number {
    const isBegun = generation === this.#generation;
    const aheadMs = isBegun ? Math.max(0, this.#lastsUntilMs - nowMs) : 0;
    this.#generation = generation;
    this.#lastsUntilMs = nowMs + aheadMs + (samples * 1000) / LINE_RATE_HZ;
    return aheadMs;
  }
}
