/** The shape of a recording, for drawing it. */

export const PEAK_POINTS = { default: 1000, max: 5000 } as const;

/** The loudest sample of each stretch of the recording; all stretches are equally long. */
export interface RecordingPeaks {
  readonly durationMs: number;
  /** From 0 to 1, with two decimals. */
  readonly caller: readonly number[];
  readonly agent: readonly number[];
}

/**
 * Reads the peaks of a recording, bit by bit beside everything else.
 *
 * @param points how many stretches; a recording of fewer samples has as many as those.
 * @param signal ends the reading, because nobody waits for it any more.
 * @returns `busy` while as many are read as may be at a time, `none` when the file is no recording of a call.
 * @throws {Error} of the file system.
 */
export type ReadPeaks = (
  file: string,
  points: number,
  signal: AbortSignal,
) => Promise<RecordingPeaks | 'busy' | 'none'>;
