/** What the dialer has to know of the trunk that a call goes out through. */

/** The state of one trunk's lines at this moment. */
export interface TrunkLine {
  /** Name of the trunk: calls from several numbers may share it. */
  readonly trunk: string;
  /** How many calls may be begun in a second; undefined where the operator did not say. */
  readonly callsPerSecond: number | undefined;
  /** Lines not in use; 0 while the trunk takes no calls, Infinity where it has no limit. */
  readonly free: number;
  /** Why the trunk takes no calls now, such as `not registered with …`; undefined where it does. */
  readonly problem?: string | undefined;
  /** Infinity where the trunk has no limit. */
  readonly total: number;
}

/** A carrier that tells how busy it is. */
export interface TrunkLines {
  /** The line that calls from this number take; undefined when no trunk has the number. */
  lineOf(from: string): TrunkLine | undefined;
}
