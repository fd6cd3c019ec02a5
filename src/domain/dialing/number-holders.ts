/** The telephone numbers that agents hold, and the contract of the store that finds them. */
import type { Scope } from '../agent/agent.ts';

/** A number that an agent holds. */
export interface HeldNumber {
  readonly number: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly accountId: string;
}

export interface NumberHolders {
  /** Numbers of the scope's agents, sorted. */
  ofScope(scope: Scope): readonly HeldNumber[];

  /** Numbers of all live agents of the installation, sorted; 10,000 at most. */
  everyLive(): readonly HeldNumber[];

  /** Who answers the number in the live environment, whichever account it is of. */
  liveHolderOf(number: string): HeldNumber | undefined;
}
