/** The contract that the stores of named records share: custom tools, MCP servers, SMS gateways, calendars. */

import type { Scope } from './agent/agent.ts';
import type { Page, PageRange } from './ids.ts';

/** Keeps records whose name is unique in an account and environment. */
export interface NamedStore<Item> {
  /** @throws {ServiceError} CONFLICT when the name is taken, or there are as many already as the kind's limit allows. */
  insert(record: Item): Promise<void>;

  /** Saves every field. */
  update(record: Item): Promise<void>;

  /** @throws {ServiceError} CONFLICT when an agent uses it; a calendar also when appointments in it are still to come. */
  delete(scope: Scope, name: string, now: Date): Promise<void>;

  find(scope: Scope, name: string): Promise<Item | undefined>;

  /** Finds the records with these names, in no order; unknown names are left out. */
  findAll(scope: Scope, names: readonly string[]): Promise<readonly Item[]>;

  /** Lists records by name. */
  list(scope: Scope, page: PageRange): Promise<Page<Item>>;
}
