/** The caller's audio in an RTP session: written to the receive ring, and watched by the energy detector. */
import { FRAME_SAMPLES } from '../audio-stream.ts';
import { EnergyDetector, type VoiceChange } from '../dsp/energy-detector.ts';
import type { LevelMeter } from '../dsp/level-meter.ts';
import type { ReceiveRing } from '../sound-rings.ts';

/** The caller's audio of one session: goes to the receive ring; tells when voice begins and ends. */
export class CallerAudio {
  readonly #heard: ReceiveRing;
  readonly #meter: LevelMeter;
  readonly #onVoice: (change: VoiceChange) => void;
  readonly #onVoiceLasts: (voiceMs: number) => void;
  /** Created by the first sound that is not a whole frame. */
  #splitter: FrameSplitter | undefined;
  readonly #detector = new EnergyDetector();

  constructor(options: {
    readonly heard: ReceiveRing;
    readonly meter: LevelMeter;
    /** Called when the caller begins or stops speaking. */
    readonly onVoice: (change: VoiceChange) => void;
    /** Called for each frame of a voice, with its length so far; after `onVoice` for the first one. */
    readonly onVoiceLasts: (voiceMs: number) => void;
  }) {
    this.#heard = options.heard;
    this.#meter = options.meter;
    this.#onVoice = options.onVoice;
    this.#onVoiceLasts = options.onVoiceLasts;
  }

  /** Takes sound of any length. @param mayEcho whether an echo of the agent's voice may be in it. */
  hear(pcm: Int16Array, atMs: number, mayEcho: boolean): void {
    this.#heard.write(pcm, atMs, mayEcho);
    if (pcm.length === FRAME_SAMPLES && this.#splitter?.isEmpty !== false) {
      this.#listen(pcm, atMs);
      return;
    }
    this.#splitter ??= new FrameSplitter();
    for (const frame of this.#splitter.split(pcm)) this.#listen(frame, atMs);
  }

  #listen(frame: Int16Array, atMs: number): void {
    const change = this.#detector.hear(frame, atMs);
    if (this.#meter.isOn) this.#meter.note('caller', this.#detector.levelDbfs);
    if (change !== undefined) this.#onVoice(change);
    if (this.#detector.isVoice) this.#onVoiceLasts(this.#detector.voiceMs);
  }
}

const NOTHING = new Int16Array(0);

/** Splits sound of any length into 20 ms frames. */
class FrameSplitter {
  #rest = NOTHING;

  /** Whether no samples are left over. */
  get isEmpty(): boolean {
    return this.#rest.length === 0;
  }

  /** Splits samples into frames; keeps the rest for the next call. @returns the completed frames. */
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
