/** Accounts and the two environments that each of them has. */

/** Test is the sandbox: simulated, free, and no real number is contacted. */
export type Environment = 'live' | 'test';

export type Plan = 'starter' | 'business' | 'enterprise';

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  /** A calendar month. */
  readonly minutesIncluded: number;
  readonly createdAt: Date;
}
