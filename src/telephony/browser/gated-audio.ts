/** A browser call's sound: the media engine's line, which speaks once the browser can hear and ends with the connection. */
import type { AudioEvent, AudioStats, AudioStream, SoundTap } from '../../media/audio-stream.ts';
import type { HeardRing } from '../../media/heard-ring.ts';
import type { LevelMeter } from '../../media/level-meter.ts';

/** As many words as a greeting of ten minutes is cut into; whoever says more to nobody is not heard to the end. */
const WAITING_MAX = 10_000;

/**
 * The call is answered before sound can flow, for the browser needs the answer to find its way here. What is said in
 * that second waits, so that nobody misses how the greeting begins.
 */
export class GatedAudio implements AudioStream {
  readonly #line: AudioStream;
  readonly #listeners: ((event: AudioEvent) => void)[] = [];
  /** Undefined once the gate is open. */
  #waiting: (() => void)[] | undefined = [];
  #isLost = false;

  constructor(line: AudioStream) {
    this.#line = line;
    line.onEvent((event) => this.#emit(event));
  }

  /** Lets out what was said so far, and from now on everything. Safe to call twice. */
  open(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const say of waiting) say();
  }

  /** Says `media-lost`, once. */
  lose(): void {
    this.#emit({ kind: 'media-lost' });
  }

  get heard(): HeardRing {
    return this.#line.heard;
  }

  get meter(): LevelMeter | undefined {
    return this.#line.meter;
  }

  get tap(): SoundTap | undefined {
    return this.#line.tap;
  }

  onEvent(listener: (event: AudioEvent) => void): void {
    this.#listeners.push(listener);
  }

  begin(generation: number): void {
    this.#pass(() => this.#line.begin(generation));
  }

  say(generation: number, pcm: Int16Array): void {
    this.#pass(() => this.#line.say(generation, pcm));
  }

  finish(generation: number): void {
    this.#pass(() => this.#line.finish(generation));
  }

  drop(generation: number): void {
    this.#pass(() => this.#line.drop(generation));
  }

  resume(generation: number): void {
    this.#pass(() => this.#line.resume(generation));
  }

  setInterruptible(isInterruptible: boolean): void {
    this.#pass(() => this.#line.setInterruptible(isInterruptible));
  }

  sendDigits(digits: string): void {
    this.#pass(() => this.#line.sendDigits(digits));
  }

  stats(): Promise<AudioStats> {
    return this.#line.stats();
  }

  #pass(deed: () => void): void {
    if (this.#waiting === undefined) deed();
    else if (this.#waiting.length < WAITING_MAX) this.#waiting.push(deed);
  }

  #emit(event: AudioEvent): void {
    if (event.kind === 'media-lost') {
      if (this.#isLost) return;
      this.#isLost = true;
    }
    for (const listener of this.#listeners) listener(event);
  }
}
