/** A telephone line without sound: plays by the fake clock, and lets the test be the caller. */
import type { Clock } from '../../../src/lib/clock.ts';
import {
  type AudioEvent,
  type AudioStats,
  type AudioStream,
  LINE_RATE_HZ,
} from '../../../src/media/audio-stream.ts';
import { ReceiveRing } from '../../../src/media/sound-rings.ts';

interface Playout {
  readonly generation: number;
  queuedMs: number;
  playedMs: number;
  sinceMs: number | null;
  isStarted: boolean;
  isFinished: boolean;
  cancel: () => void;
}

/** Frames of voice before the worker reports it, as in the media worker: three of 20 ms. */
const VOICE_PROOF_MS = 60;

/** Quiet before the worker reports the end of a voice. */
const QUIET_PROOF_MS = 60;

export class FakeLine implements AudioStream {
  readonly heard = new ReceiveRing();
  /** Every generation that was played, in order, with how much of it left. */
  readonly played: { generation: number; playedMs: number; isComplete: boolean }[] = [];
  /** Length of a voice that pauses playout. */
  pauseAfterMs = VOICE_PROOF_MS;
  readonly #clock: Clock;
  #listener: (event: AudioEvent) => void = () => undefined;
  #playout: Playout | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  onEvent(listener: (event: AudioEvent) => void): void {
    this.#listener = listener;
  }

  begin(generation: number): void {
    if (this.#playout !== undefined && generation <= this.#playout.generation) return;
    this.#end(false);
    this.#playout = {
      generation,
      queuedMs: 0,
      playedMs: 0,
      sinceMs: null,
      isStarted: false,
      isFinished: false,
      cancel: () => undefined,
    };
  }

  say(generation: number, pcm: Int16Array): void {
    const playout = this.#current(generation);
    if (playout === undefined) return;
    this.#tally(playout);
    playout.queuedMs += (pcm.length * 1000) / LINE_RATE_HZ;
    if (!playout.isStarted) this.#start(playout);
    this.#schedule(playout);
  }

  finish(generation: number): void {
    const playout = this.#current(generation);
    if (playout === undefined) return;
    playout.isFinished = true;
    this.#schedule(playout);
  }

  drop(generation: number): void {
    if (this.#current(generation) !== undefined) this.#end(false);
  }

  resume(generation: number): void {
    const playout = this.#current(generation);
    if (playout === undefined || playout.sinceMs !== null) return;
    playout.sinceMs = this.#clock.nowMs();
    this.#schedule(playout);
  }

  /** Whether the caller's sound is kept from all who hear it. */
  isPrivate = false;

  setPrivate(isPrivate: boolean): void {
    this.isPrivate = isPrivate;
  }

  setPauseAfter(voiceMs: number | null): void {
    this.pauseAfterMs = voiceMs ?? Number.POSITIVE_INFINITY;
  }

  sendDigits(): void {}

  stats(): Promise<AudioStats> {
    const none = { packetsReceived: 0, packetsSent: 0, packetsLost: 0 };
    return Promise.resolve({ ...none, packetsRejected: 0, jitterMs: 0 });
  }

  /** Whether something is being played. */
  get isPlaying(): boolean {
    return this.#playout?.isStarted === true && this.#playout.sinceMs !== null;
  }

  /** The caller is loud from now on, for `voiceMs`. */
  voice(voiceMs: number): void {
    const fromMs = this.#clock.nowMs();
    if (voiceMs < VOICE_PROOF_MS) return;
    this.#clock.after(VOICE_PROOF_MS, () => {
      this.emit({ kind: 'voice-started', atMs: fromMs });
      if (this.pauseAfterMs <= VOICE_PROOF_MS) this.#pause();
      else if (this.pauseAfterMs <= voiceMs)
        this.#clock.after(this.pauseAfterMs - VOICE_PROOF_MS, () => this.#pause());
    });
    this.#clock.after(voiceMs + QUIET_PROOF_MS, () =>
      this.emit({ kind: 'voice-stopped', lastVoicedAtMs: fromMs + voiceMs }),
    );
  }

  emit(event: AudioEvent): void {
    this.#listener(event);
  }

  #start(playout: Playout): void {
    playout.isStarted = true;
    playout.sinceMs = this.#clock.nowMs();
    const atMs = this.#clock.nowMs();
    const { generation } = playout;
    this.#clock.after(0, () => this.emit({ kind: 'playout-started', generation, atMs }));
  }

  #pause(): void {
    const playout = this.#playout;
    if (playout === undefined || !this.isPlaying) return;
    this.#tally(playout);
    playout.sinceMs = null;
    playout.cancel();
    const { generation, playedMs } = playout;
    this.emit({ kind: 'playout-paused', generation, playedMs });
  }

  #schedule(playout: Playout): void {
    playout.cancel();
    if (!playout.isFinished || playout.sinceMs === null) return;
    this.#tally(playout);
    playout.cancel = this.#clock.after(playout.queuedMs - playout.playedMs, () => {
      this.#tally(playout);
      if (this.#playout === playout) this.#end(true);
    });
  }

  #tally(playout: Playout): void {
    if (playout.sinceMs === null) return;
    const nowMs = this.#clock.nowMs();
    playout.playedMs = Math.min(playout.queuedMs, playout.playedMs + nowMs - playout.sinceMs);
    playout.sinceMs = nowMs;
  }

  #end(isComplete: boolean): void {
    const playout = this.#playout;
    if (playout === undefined) return;
    this.#tally(playout);
    playout.cancel();
    this.#playout = undefined;
    const { generation, playedMs } = playout;
    this.played.push({ generation, playedMs, isComplete });
    this.emit({ kind: 'playout-finished', generation, playedMs, isComplete });
  }

  #current(generation: number): Playout | undefined {
    return this.#playout?.generation === generation ? this.#playout : undefined;
  }
}
