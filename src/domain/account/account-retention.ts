/** Retention of an account's calls, and the contract of the store that applies it. */
import type { Account, CallRetention } from './account.ts';
import type { ErasureCounts, ErasureOrder } from './erasure.ts';

const DAY_MS = 86_400_000;

/** Calls that began before these instants lose recording, transcript or record; null: none does. */
export interface RetentionLimits {
  readonly recordingsBefore: Date | null;
  readonly transcriptsBefore: Date | null;
  readonly callsBefore: Date | null;
}

/** Undefined where the account keeps everything. */
export function limitsOf(retention: CallRetention, now: Date): RetentionLimits | undefined {
  const { recordingsDays, transcriptsDays, callsDays } = retention;
  if (recordingsDays === null && transcriptsDays === null && callsDays === null) return undefined;
  const before = (days: number | null) =>
    days === null ? null : new Date(now.getTime() - days * DAY_MS);
  return {
    recordingsBefore: before(recordingsDays),
    transcriptsBefore: before(transcriptsDays),
    callsBefore: before(callsDays),
  };
}

/** Erases records past their retention, of calls that are over, in both environments. Leaves no tombstones. */
export interface AccountRetention {
  /**
   * Erases, in one transaction, of `ERASED_CALLS_MAX` calls at most: whole calls first, then recordings, then words.
   *
   * @param order of kind `retention`; the same one in every step of a round.
   * @returns of how many calls; `ERASED_CALLS_MAX` means that there may be more.
   */
  apply(account: Account, order: ErasureOrder): Promise<number>;

  /** What `apply` would take, until nothing is left. */
  count(account: Account, now: Date): Promise<ErasureCounts>;
}
