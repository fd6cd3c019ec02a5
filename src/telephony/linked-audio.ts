/** A call's sound where somebody stands between the media engine and whoever listens: the engine's line, less what is not to be heard of it. */
import type { AudioEvent, AudioStats, AudioStream, SoundTap } from '../media/audio-stream.ts';
import type { ReceiveRing } from '../media/buffers/receive-ring.ts';
import type { LevelMeter } from '../media/dsp/level-meter.ts';

export class LinkedAudio implements AudioStream {
  readonly #line: AudioStream;
  readonly #listeners: ((event: AudioEvent) => void)[] = [];
  #isLost = false;

  /** @param isHeard says of each event of the line whether listeners are told; of all when not given. */
  constructor(line: AudioStream, isHeard: (event: AudioEvent) => boolean = () => true) {
    this.#line = line;
    line.onEvent((event) => {
      if (isHeard(event)) this.#emit(event);
    });
  }

  /** Says `media-lost`, once: the link that stands between has ended. */
  lose(): void {
    this.#emit({ kind: 'media-lost' });
  }

  get heard(): ReceiveRing {
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
    this.#line.begin(generation);
  }

  say(generation: number, pcm: Int16Array): void {
    this.#line.say(generation, pcm);
  }

  finish(generation: number): void {
    this.#line.finish(generation);
  }

  drop(generation: number): void {
    this.#line.drop(generation);
  }

  resume(generation: number): void {
    this.#line.resume(generation);
  }

  setInterruptible(isInterruptible: boolean): void {
    this.#line.setInterruptible(isInterruptible);
  }

  sendDigits(digits: string): void {
    this.#line.sendDigits(digits);
  }

  stats(): Promise<AudioStats> {
    return this.#line.stats();
  }

  #emit(event: AudioEvent): void {
    if (event.kind === 'media-lost') {
      if (this.#isLost) return;
      this.#isLost = true;
    }
    for (const listener of this.#listeners) listener(event);
  }
}
