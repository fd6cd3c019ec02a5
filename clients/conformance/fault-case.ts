/** What a fault case says: the server's script, the command, and what must come of it. */
import type { Command, DriverError } from './driver.ts';
import type { SeenRequest, Step } from './fault-server.ts';

type Open = Extract<Command, { do: 'open' }>;

export interface FaultCase {
  readonly name: string;
  /** The last one answers all requests that follow. */
  readonly steps: readonly Step[];
  readonly open?: Partial<Open>;
  /** `agents.get` unless given. */
  readonly command?: Command;
  /** The error's fields; or the value. */
  readonly expected: Partial<DriverError> | { readonly value: unknown };
  /** How many the server must have seen. */
  readonly requests: number;
  /** Shown where they are not as they should be; empty when all is well. */
  readonly faultsOf?: (seen: readonly SeenRequest[]) => readonly string[];
}
