/** The audit log: which requests of users, keys and the command line have an entry, and its fields; pure */
import type { Page } from '../ids.ts';

/** Rows older than this are deleted. */
export const AUDIT_KEPT_MS = 34_560_000_000;

/** More rows than this are not kept; the oldest go first. */
export const AUDIT_ROWS_MAX = 500_000;

/** `cli` is the command line; `none` an attempt without a session or key. */
export const AUDIT_ACTORS = ['user', 'key', 'cli', 'none'] as const;

/** Who made a change. */
export type AuditActor = (typeof AUDIT_ACTORS)[number];

/** One change, or one attempt to sign in. Never a body, a secret, or a number or word of a caller. */
export interface AuditEntry {
  readonly id: string;
  readonly at: Date;
  readonly actor: AuditActor;
  /** Id of the user or key; null for `cli` and `none`. */
  readonly actorId: string | null;
  /** Name of the user, or prefix and last four characters of the key, as they were then. */
  readonly actorName: string | null;
  /** IP address of the client; null for `cli`. */
  readonly address: string | null;
  /** Method and route, such as `PATCH /api/agents/{agentId}`, or the command, such as `admin key create`. */
  readonly action: string;
  /** Id or name of the changed resource; null where the route names none. */
  readonly resource: string | null;
  /** HTTP status; null for `cli`. */
  readonly status: number | null;
  readonly accountId: string | null;
  readonly environment: string | null;
}

/** Contract of the audit log; entries are never changed. */
export interface AuditLog {
  append(entry: AuditEntry): Promise<void>;

  /** Newest first. */
  page(query: {
    readonly actorId?: string | undefined;
    readonly resource?: string | undefined;
    readonly limit: number;
    readonly offset: number;
  }): Promise<Page<AuditEntry>>;
}

const CHANGING_METHODS: readonly string[] = ['DELETE', 'PATCH', 'POST', 'PUT'];

/** Routes without an entry: every open page uses them every few minutes, and they change nothing. */
export const NO_CHANGES: readonly string[] = ['POST /dashboard/key'];

/** Routes whose refusals are kept too: somebody may be guessing a password. */
const SIGN_INS: readonly string[] = [
  'POST /dashboard/join',
  'POST /dashboard/login',
  'POST /dashboard/password',
  'POST /dashboard/setup',
];

/**
 * Whether an answered request has an entry.
 *
 * @param action method and route.
 */
export function isAudited(action: string, status: number): boolean {
  if (SIGN_INS.includes(action) && (status === 401 || status === 403)) return true;
  const [method = ''] = action.split(' ', 1);
  const isChange = CHANGING_METHODS.includes(method) && !NO_CHANGES.includes(action);
  return isChange && status >= 200 && status < 300;
}

/** Begins with a letter, so that no telephone number passes. */
const RESOURCE = /^[a-z][\w.-]{0,99}$/i;

/** Parameters of a path that name a resource; none of them is a telephone number. */
const RESOURCE_PARAMETER = /^\{(?:\w+Id|id|\w+Name)\}$/;

/**
 * Resource of a request: the one that it made, else the last one that its path names.
 *
 * @param route such as `/api/agents/{agentId}`.
 * @param location `Location` of the answer, where it has one.
 */
export function resourceOf(
  route: string,
  path: string,
  location: string | undefined,
): string | null {
  const values = path.split('/');
  const named = route
    .split('/')
    .map((part, index) => (RESOURCE_PARAMETER.test(part) ? values[index] : undefined))
    .findLast((value) => value !== undefined);
  const made = location?.split('/').at(-1);
  return resourceNamed(made) ?? resourceNamed(named) ?? null;
}

/** The value where it can be an id or a name of a resource, and no telephone number. */
export function resourceNamed(value: unknown): string | undefined {
  return typeof value === 'string' && RESOURCE.test(value) ? value : undefined;
}
