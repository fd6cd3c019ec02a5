/** The port of voice activity detection (VAD): one run scores the newest window of every call. */

/** One call's state in the model. */
export interface DetectorStream {
  /** Clears the state. */
  reset(): void;
}

/** A voice activity detection model in memory. */
export interface Vad {
  /** 8000 or 16000: what `score` takes. */
  readonly rateHz: 8000 | 16_000;

  /** Samples in one window, 32 ms. */
  readonly windowSamples: number;

  /** A limitation and its remedy, such as a model that is not prepared. */
  readonly drawback?: string;

  /** Opens one call's state. */
  open(): DetectorStream;

  /**
   * Scores one window of each call given, in one run.
   *
   * @param windows mono, -1..1, `windowSamples` each, a call occurs once.
   * @returns chance of speech for each, from 0 to 1, in the same order.
   * @throws {RangeError} when a window has another length.
   */
  score(
    windows: readonly { readonly stream: DetectorStream; readonly pcm: Float32Array }[],
  ): Promise<readonly number[]>;

  /** Releases the model. Call it when no `score` is under way. */
  close(): Promise<void>;
}

/** Exports of the module of a VAD engine. */
export interface VadModule {
  /** @throws {Error} naming the file, the cause and the remedy. */
  openVoiceDetector(modelPath: string): Promise<Vad>;
}
