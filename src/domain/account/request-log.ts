/** The request log: the newest requests to the REST interface, in memory. */
import type { Clock } from '../../lib/clock.ts';
import { RecentItems } from '../../lib/server-log.ts';
import type { ErrorCode } from '../service-error.ts';
import type { Environment } from './account.ts';
import { NO_CHANGES } from './audit-log.ts';

/** Requests with a valid key or a session. */
export const REQUESTS_MAX = 2000;

/** Requests without either: they have a limit of their own, so that strangers push no other request out. */
export const STRANGERS_MAX = 500;

/** `none`: neither a valid key nor a session. */
export const REQUEST_ACTORS = ['user', 'key', 'none'] as const;

/** One answered request. Never its path, query, body or address, nor a header. */
export interface RequestEntry {
  readonly requestId: string;
  readonly at: Date;
  readonly method: string;
  /** Pattern such as `/api/calls/{callId}`; `unmatched` where there is no such path. */
  readonly route: string;
  readonly status: number;
  /** Code of the error; null where there was none. */
  readonly errorCode: ErrorCode | null;
  readonly durationMs: number;
  readonly actor: (typeof REQUEST_ACTORS)[number];
  /** Id of the user or key. */
  readonly actorId: string | null;
  /** Name of the user, or prefix and last four characters of the key. */
  readonly actorName: string | null;
  /** Null for the routes of the dashboard itself, and without a valid key. */
  readonly accountId: string | null;
  readonly environment: Environment | null;
}

/** The newest requests, in memory; the oldest make room. */
export class RequestLog {
  readonly startedAt: Date;
  readonly #known = new RecentItems<RequestEntry>(REQUESTS_MAX);
  readonly #strangers = new RecentItems<RequestEntry>(STRANGERS_MAX);

  constructor(clock: Pick<Clock, 'now'>) {
    this.startedAt = clock.now();
  }

  add(entry: RequestEntry): void {
    (entry.actor === 'none' ? this.#strangers : this.#known).add(entry);
  }

  newestFirst(): readonly RequestEntry[] {
    const all = [...this.#known.newestFirst(), ...this.#strangers.newestFirst()];
    return all.sort((one, other) => other.at.getTime() - one.at.getTime());
  }
}

/**
 * Whether a request has an entry. Reads by the dashboard have one only if they fail: pages that refresh themselves would
 * push out all other entries within minutes.
 */
export function isListed(request: {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly isDashboard: boolean;
}): boolean {
  const { method, route, status, isDashboard } = request;
  if (!isDashboard || status >= 400) return true;
  return method !== 'GET' && method !== 'HEAD' && !NO_CHANGES.includes(`${method} ${route}`);
}

/** Filter of a list of requests. */
export interface RequestFilter {
  /** First digit of the status, such as `4`. */
  readonly statusClass?: number | undefined;
  /** Part of method and route, in any case. */
  readonly route?: string | undefined;
  readonly requestId?: string | undefined;
}

/** Whether a request passes a filter. */
export function isWanted(entry: RequestEntry, filter: RequestFilter): boolean {
  const { statusClass, route, requestId } = filter;
  if (statusClass !== undefined && Math.floor(entry.status / 100) !== statusClass) return false;
  if (requestId !== undefined && entry.requestId !== requestId) return false;
  if (route === undefined) return true;
  return `${entry.method} ${entry.route}`.toLowerCase().includes(route.toLowerCase());
}
