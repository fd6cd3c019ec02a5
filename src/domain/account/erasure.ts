/** Erasure of calls: orders, counts, audit log, retention of an account's calls, and the contracts of its stores. */
import { DAY_MS, type Notifier } from '../../lib/clock.ts';
import { conflict, unprocessable } from '../service-error.ts';
import type { CallRetention, Environment } from './account.ts';

/** Noted calls that one step erases: a few milliseconds on the thread of the conversations. */
export const ERASED_CALLS_MAX = 20;

/** Scope of an erasure: one call, the calls of a telephone number, or calls past their retention. */
export type ErasureKind = 'call' | 'number' | 'retention';

/** One order of an erasure, with its author. It names no telephone number. */
export interface ErasureOrder {
  /** `ers_…`. */
  readonly id: string;
  readonly accountId: string;
  /** Null: both. */
  readonly environment: Environment | null;
  readonly kind: ErasureKind;
  /** Id of an API key; `dashboard`, `admin` (the command line) or `retention`. */
  readonly askedBy: string;
  readonly askedAt: Date;
}

/** Number of erased records. */
export interface ErasureCounts {
  readonly calls: number;
  /** Recordings of these calls, and of calls that stay. */
  readonly recordings: number;
  /** Calls that stay without their words. */
  readonly transcripts: number;
}

/** A line of the audit log. */
export interface ErasureRecord extends ErasureOrder, ErasureCounts {
  /** Null while some of its calls go on, or wait for their turn. */
  readonly finishedAt: Date | null;
}

/** The calls of a telephone number. */
export interface NumberSelection {
  readonly accountId: string;
  /** Null: both. */
  readonly environment: Environment | null;
  /** Number in the form that calls show in `from` or `to`. */
  readonly number: string;
}

/** The calls of a number that are over, and how many more go on. */
export interface NumberCounts {
  readonly calls: number;
  readonly recordings: number;
  readonly callsInProgress: number;
}

/**
 * Erases calls with transcript, timeline, quality, SIP messages, events and their deliveries. Sums stay, and a tombstone: id,
 * agent, start and duration.
 *
 * Every method is one transaction. Files are named in it for `Leftovers`, so that a crash leaves none behind.
 */
export interface ErasureStore {
  /** Notifies of noted calls and of leftovers. */
  readonly notifier: Notifier;

  /** Erases a call. @throws {ServiceError} CALL_NOT_FOUND when there is none, CONFLICT while it is not over. */
  erase(callId: string, order: ErasureOrder): Promise<void>;

  /** Notes the calls of a number for `eraseNoted`; calls in progress are erased when they are over. */
  note(selection: NumberSelection, order: ErasureOrder): Promise<NumberCounts>;

  /** Counts the calls that `note` would note. */
  count(selection: NumberSelection): Promise<NumberCounts>;

  /** Erases noted calls that are over. @returns how many; `ERASED_CALLS_MAX` means that there may be more. */
  eraseNoted(now: Date): Promise<number>;

  /** The audit log, newest first. */
  list(limit: number): Promise<readonly ErasureRecord[]>;
}

/** Finishes erasures on the disk. */
export interface Eraser {
  /** Resolves when named files are deleted and the log is empty. Never rejects: failures are logged and tried again. */
  finish(): Promise<void>;
}

/** A number as in `from` and `to` of calls: E.164, or the digits that a carrier sent. */
const NUMBER = /^\+?[0-9*#]{1,32}$/;

/** @throws {ServiceError} UNPROCESSABLE when the text is no number that a call can show. */
export function checkErasedNumber(text: string): void {
  if (NUMBER.test(text)) return;
  throw unprocessable(
    'Cannot erase calls of phoneNumber: expected a number as calls show it, such as +390612345678',
  );
}

/** @throws {ServiceError} CONFLICT. */
export function refuseLiveCall(): never {
  throw conflict('Cannot delete the call: it is not over; hang it up first');
}

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
