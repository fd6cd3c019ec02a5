/** The port of an end-of-turn model inside its own process: whether a caller who pauses has finished, by how it sounds. */

export interface TurnDetector {
  /**
   * Scores a pause.
   *
   * @param pcm what the caller has said in this turn and the quiet after it: 8 kHz, mono, signed 16-bit; the newest 8 s count.
   * @returns chance that the turn is complete, from 0 to 1.
   */
  score(pcm: Int16Array): Promise<number>;

  /** Lets go of the model. Call it when nothing is being scored. */
  close(): Promise<void>;
}

/** What the module of an engine that detects the end of a turn exports. */
export interface TurnDetectorModule {
  /** @throws {Error} naming the file, what is wrong with it and the remedy. */
  openTurnDetector(modelPath: string): Promise<TurnDetector>;
}
