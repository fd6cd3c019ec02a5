/** Accounts and the two environments that each of them has. */

import type { CallingHours } from '../dialing/calling-hours.ts';

/** Test is the sandbox: simulated, free, and no real number is contacted. */
export type Environment = 'live' | 'test';

/** Plans, which decide rate limits. */
export const PLANS = ['starter', 'business', 'enterprise'] as const;

/** Plan of an account. */
export type Plan = (typeof PLANS)[number];

/** How long an account keeps its calls, in days from their start; null keeps for good. */
export interface CallRetention {
  readonly recordingsDays: number | null;
  /** Transcript, summary, and the events that tell of them. */
  readonly transcriptsDays: number | null;
  /** The whole call. */
  readonly callsDays: number | null;
}

/** Retention of an account that deletes nothing. */
export const KEEP_CALLS: CallRetention = {
  recordingsDays: null,
  transcriptsDays: null,
  callsDays: null,
};

/** A customer: plan, limits and retention of its calls. */
export interface Account {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  /** A calendar month. */
  readonly minutesIncluded: number;
  /** Transfer targets of all agents of this account, in addition to their own lists; numbers are E.164. */
  readonly transferTargets: readonly { readonly label: string; readonly number: string }[];
  /** ISO 3166 codes that may be called; null means the country of the calling number. */
  readonly allowedCountries: readonly string[] | null;
  /** When people may be rung; null for any time. */
  readonly callingHours: CallingHours | null;
  readonly retention: CallRetention;
  readonly createdAt: Date;
}

/** Time for which the previous secret goes on signing, in the Standard Webhooks header only. */
export const PREVIOUS_SECRET_KEPT_MS = 86_400_000;

/**
 * The secrets of webhook signatures of one environment. All of them sign the Standard Webhooks header; `current` alone
 * signs `X-Service-Signature`.
 */
export interface SigningSecrets {
  /** `whsec_…`. */
  readonly current: string;
  /** The one that an activation makes current; null when none is prepared. */
  readonly prepared: string | null;
  /** The one before the last activation; null when it was dropped, or 24 h are over. */
  readonly previous: string | null;
  /** Until when `previous` counts. */
  readonly previousUntil: Date | null;
}

/** Rows deleted per call at most, because conversations share the thread. */
export const PRUNED_ROWS_MAX = 1000;

/** A delivery keeps its newest attempts. */
export const ATTEMPTS_KEPT = 50;
