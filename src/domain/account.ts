/** Accounts and the two environments that each of them has. */

/** Test is the sandbox: simulated, free, and no real number is contacted. */
export type Environment = 'live' | 'test';

export const PLANS = ['starter', 'business', 'enterprise'] as const;

export type Plan = (typeof PLANS)[number];

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  /** A calendar month. */
  readonly minutesIncluded: number;
  /** Where agents of this account may hand calls to, besides their own lists; numbers are E.164. */
  readonly transferTargets: readonly { readonly label: string; readonly number: string }[];
  /** ISO 3166 codes that may be called; null means the country of the calling number. */
  readonly allowedCountries: readonly string[] | null;
  readonly createdAt: Date;
}

/** How long the secret before a rotation still signs the second of the Standard Webhooks signatures. */
export const PREVIOUS_SECRET_KEPT_MS = 86_400_000;

/** The keys of webhook signatures of one environment. */
export interface SigningSecrets {
  /** `whsec_…`. */
  readonly current: string;
  /** The one before the last rotation; null when there was none, or it is longer than 24 h ago. */
  readonly previous: string | null;
  /** Until when `previous` counts. */
  readonly previousUntil: Date | null;
}
