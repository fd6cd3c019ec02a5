/** Access by API key: authentication with a cache of half a second, permissions by scope and role, and the rate limit with its three headers. */

import type { Plan } from '../../domain/account/account.ts';
import { type ApiKey, type ApiScope, hashOfKey, mayUse } from '../../domain/account/api-key.ts';
import {
  ANONYMOUS_REQUESTS_AN_HOUR,
  DASHBOARD_REQUESTS_AN_HOUR,
  RECORDING_REQUESTS_AN_HOUR,
  requestsAnHour,
  windowOf,
} from '../../domain/account/rate-limit.ts';
import { roleNeededFor } from '../../domain/account/role-table.ts';
import { mayActAs, type User } from '../../domain/account/user.ts';
import { opensRecording } from '../../domain/call/recording-link.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import {
  type ApiContext,
  type ApiDeps,
  type Caller,
  callerOf,
  type Guard,
  type Quota,
} from '../api-env.ts';
import { clientAddress, clientOf, routesOf } from './request-identity.ts';

const BEARER = /^Bearer +([!-~]{1,200})$/i;

/** Sets `caller`. Refuses no request: one without a key must be counted first. */
export async function authenticate(context: ApiContext, keys: KeyCache): Promise<void> {
  const keyText = BEARER.exec(context.req.header('authorization') ?? '')?.[1];
  if (keyText !== undefined) context.set('caller', await keys.callerOf(keyText));
}

/** @throws {ServiceError} UNAUTHORIZED without a valid key, FORBIDDEN when the key lacks the scope. */
export function checkScope(context: ApiContext, scope: ApiScope): void {
  if (mayUse(callerOf(context).apiKey, scope)) return;
  throw new ServiceError('FORBIDDEN', `Cannot use this API key: it lacks the scope "${scope}"`);
}

/** Guard of a route: 401 without a valid key, 403 when the key lacks `scope`. */
export function requireScope(scope: ApiScope): Guard {
  return (context, next) => {
    checkScope(context, scope);
    return next();
  };
}

/**
 * Checks a user against every route that the request matched. A request that matched none is answered with 404 elsewhere.
 *
 * @throws {ServiceError} FORBIDDEN naming the role that is needed.
 */
export function checkRole(context: ApiContext, { role }: Pick<User, 'role'>): void {
  for (const route of routesOf(context)) {
    const needed = roleNeededFor(route);
    if (needed === 'anyone' || mayActAs(role, needed)) continue;
    throw new ServiceError(
      'FORBIDDEN',
      `Cannot do this as "${role}": it needs the role "${needed}"; an admin can give it to you`,
    );
  }
}

/** Whether the request may come without a session. */
export function isForAnyone(context: ApiContext): boolean {
  return routesOf(context).every((route) => roleNeededFor(route) === 'anyone');
}

/** Sentence in the documentation of the operator's routes. */
export const NEEDS_OPERATOR_KEY = 'Needs a live key of the first account.';

/** Whether the request comes from an admin at the dashboard, or with a live key of the first account that has the scope `admin`. */
export async function isOperator(
  context: ApiContext,
  { numberOwners }: Pick<ApiDeps, 'numberOwners'>,
): Promise<boolean> {
  const { apiKey, user } = callerOf(context);
  if (apiKey.environment !== 'live') return false;
  if (user !== undefined) return user.role === 'admin';
  return (
    apiKey.accountId === (await numberOwners.firstAccountId()) && apiKey.scopes.includes('admin')
  );
}

/** @throws {ServiceError} FORBIDDEN for other keys. */
export async function requireOperator(
  context: ApiContext,
  deps: Pick<ApiDeps, 'numberOwners'>,
): Promise<void> {
  if (await isOperator(context, deps)) return;
  throw new ServiceError(
    'FORBIDDEN',
    'Cannot use this API key: it needs to be a live key of the first account, with the scope "admin"',
  );
}

/** A key that another process revokes, as the admin command does, must stop within a second. */
const FRESH_MS = 500;

const KEYS_MAX = 1000;

/** `lastUsedAt` is known to the minute, so that using a key doesn't write at every request. */
const TOUCH_MS = 60_000;

interface Remembered {
  readonly caller: Caller;
  readonly readAtMs: number;
}

type KeyDeps = Pick<ApiDeps, 'accounts' | 'apiKeys' | 'clock' | 'operatorKeys'>;

/** Caches keys by their hash; unknown keys are never cached. */
export class KeyCache {
  readonly #deps: KeyDeps;
  readonly #cached = new BoundedMap<string, Remembered>(KEYS_MAX);

  constructor(deps: KeyDeps) {
    this.#deps = deps;
  }

  /** Undefined when the key is unknown or revoked. */
  async callerOf(keyText: string): Promise<Caller | undefined> {
    const nowMs = this.#deps.clock.nowMs();
    const hash = hashOfKey(keyText);
    const cached = this.#cached.get(hash);
    if (cached !== undefined && nowMs - cached.readAtMs < FRESH_MS) {
      return cached.caller;
    }
    this.#cached.delete(hash);
    const ofDashboard = await this.#deps.operatorKeys?.findByHash(hash);
    // Not cached: it is in memory already, and is revoked at once.
    if (ofDashboard !== undefined) return this.#callerWith(ofDashboard.apiKey, ofDashboard.user);
    const caller = await this.#read(hash);
    if (caller !== undefined) this.#cached.set(hash, { caller, readAtMs: nowMs });
    return caller;
  }

  /** Drops a revoked key, so that its next use reads the store. */
  forget(apiKeyId: string): void {
    for (const [hash, { caller }] of this.#cached) {
      if (caller.apiKey.id === apiKeyId) this.#cached.delete(hash);
    }
  }

  async #read(hash: string): Promise<Caller | undefined> {
    const apiKey = await this.#deps.apiKeys.findByHash(hash);
    if (apiKey === undefined || apiKey.revokedAt !== null) return undefined;
    const caller = await this.#callerWith(apiKey, undefined);
    if (caller === undefined) return undefined;
    const now = this.#deps.clock.now();
    const lastUsedAtMs = apiKey.lastUsedAt?.getTime() ?? Number.NEGATIVE_INFINITY;
    if (now.getTime() - lastUsedAtMs >= TOUCH_MS) await this.#deps.apiKeys.touch(apiKey.id, now);
    return caller;
  }

  async #callerWith(apiKey: ApiKey, user: User | undefined): Promise<Caller | undefined> {
    const account = await this.#deps.accounts.find(apiKey.accountId);
    if (account === undefined) return undefined;
    const quota = quotaOf(apiKey, account.plan, user);
    return { apiKey, account, isDashboard: user !== undefined, user, quota };
  }
}

/** Whether a key that was good when a long answer began still is: neither revoked nor, as one of the dashboard, dead. */
export async function isKeyAlive(
  { id, accountId }: Pick<ApiKey, 'id' | 'accountId'>,
  { apiKeys, operatorKeys }: Pick<ApiDeps, 'apiKeys' | 'operatorKeys'>,
): Promise<boolean> {
  return (
    (await operatorKeys?.isAlive(id)) === true ||
    (await apiKeys.find(accountId, id))?.revokedAt === null
  );
}

/**
 * Counts a request. Must come after authentication and before all other checks that refuse requests.
 *
 * @throws {ServiceError} RATE_LIMITED when the hour is used up.
 */
export async function countRequest(context: ApiContext, deps: ApiDeps): Promise<void> {
  const now = deps.clock.now();
  const window = windowOf(now);
  const { subject, limit } = quotaFor(context, deps);
  context.header('X-RateLimit-Limit', String(limit));
  context.header('X-RateLimit-Reset', String(window.endsAt.getTime() / 1000));
  // None are left if the count fails.
  let left = 0;
  try {
    left = limit - (await deps.rates.count(subject, window));
  } finally {
    context.header('X-RateLimit-Remaining', String(Math.max(0, left)));
  }
  if (left >= 0) return;
  const waitSeconds = Math.ceil((window.endsAt.getTime() - now.getTime()) / 1000);
  context.header('Retry-After', String(Math.max(1, waitSeconds)));
  deps.metrics.rateLimited();
  throw new ServiceError(
    'RATE_LIMITED',
    `Cannot take more than ${limit} requests an hour: the next hour begins in ${waitSeconds} s`,
  );
}

function quotaFor(context: ApiContext, deps: ApiDeps): Quota {
  return context.get('caller')?.quota ?? linkQuota(context, deps) ?? anonymousQuota(context, deps);
}

/** The quota of a recording, for requests with a signed link to it: many people may listen from one address. */
function linkQuota(
  { req }: ApiContext,
  { recordingSecret: secret, clock }: ApiDeps,
): Quota | undefined {
  const callId = RECORDING_PATH.exec(req.path)?.[1];
  if (callId === undefined) return undefined;
  const { expires, signature } = req.query();
  if (expires === undefined || signature === undefined) return undefined;
  if (!opensRecording(callId, { expires, signature }, { secret, now: clock.now() }))
    return undefined;
  return { subject: `recording:${callId}`, limit: RECORDING_REQUESTS_AN_HOUR };
}

const RECORDING_PATH = /^\/api\/calls\/(call_\w+)\/recording$/;

function anonymousQuota(context: ApiContext, deps: ApiDeps): Quota {
  const client = clientOf(clientAddress(context, deps.isTrustedProxy));
  return { subject: `address:${client}`, limit: ANONYMOUS_REQUESTS_AN_HOUR };
}

/** The quota of a key's account and environment; of the user, for keys of the dashboard. */
function quotaOf(
  { accountId, environment }: Pick<ApiKey, 'accountId' | 'environment'>,
  plan: Plan,
  user: Pick<User, 'id'> | undefined,
): Quota {
  if (user !== undefined) {
    const subject = `dashboard:${user.id}:${accountId}:${environment}`;
    return { subject, limit: DASHBOARD_REQUESTS_AN_HOUR };
  }
  return { subject: `account:${accountId}:${environment}`, limit: requestsAnHour(plan) };
}
