/** The caller's sound inside a session: kept for the listening thread, and watched for a voice. */
import { FRAME_SAMPLES } from '../audio-stream.ts';
import type { ReceiveRing } from '../buffers/receive-ring.ts';
import { EnergyDetector, type VoiceChange } from '../dsp/energy-detector.ts';
import type { LevelMeter } from '../dsp/level-meter.ts';

export class CallerAudio {
  readonly #heard: ReceiveRing;
  readonly #meter: LevelMeter;
  readonly #onVoice: (change: VoiceChange) => void;
  /** Made by the first sound that is no whole frame: each thing to be fetched costs, with hundreds of sessions. */
  #splitter: FrameSplitter | undefined;
  readonly #detector = new EnergyDetector();

  constructor(options: {
    readonly heard: ReceiveRing;
    readonly meter: LevelMeter;
    /** Told when the caller begins and ceases to speak. */
    readonly onVoice: (change: VoiceChange) => void;
  }) {
    this.#heard = options.heard;
    this.#meter = options.meter;
    this.#onVoice = options.onVoice;
  }

  /** Hears sound of any length. */
  hear(pcm: Int16Array, atMs: number): void {
    this.#heard.write(pcm, atMs);
    if (pcm.length === FRAME_SAMPLES && this.#splitter?.isEmpty !== false) {
      this.#listen(pcm, atMs);
      return;
    }
    this.#splitter ??= new FrameSplitter();
    for (const frame of this.#splitter.split(pcm)) this.#listen(frame, atMs);
  }

  /** Listens for a voice in 20 ms. */
  #listen(frame: Int16Array, atMs: number): void {
    const change = this.#detector.hear(frame, atMs);
    if (this.#meter.isOn) this.#meter.note('caller', this.#detector.levelDbfs);
    if (change !== undefined) this.#onVoice(change);
  }
}

const NOTHING = new Int16Array(0);

/** Cuts sound of any length into 20 ms frames */
class FrameSplitter {
  #rest = NOTHING;

  /** Whether nothing is over: then 160 samples are a frame as they are. */
  get isEmpty(): boolean {
    return this.#rest.length === 0;
  }

  /** Takes samples; returns the frames that they complete, and keeps what is over. */
  split(pcm: Int16Array): readonly Int16Array[] {
    const all = new Int16Array(this.#rest.length + pcm.length);
    all.set(this.#rest);
    all.set(pcm, this.#rest.length);
    const frames = Math.floor(all.length / FRAME_SAMPLES);
    const rest = all.slice(frames * FRAME_SAMPLES);
    this.#rest = rest.length === 0 ? NOTHING : rest;
    return Array.from({ length: frames }, (_, index) =>
      all.subarray(index * FRAME_SAMPLES, (index + 1) * FRAME_SAMPLES),
    );
  }
}
