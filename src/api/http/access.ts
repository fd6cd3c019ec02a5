/** Authentication by API key, and what the key's scopes and the user's role permit. */
import { type ApiScope, mayUse } from '../../domain/account/api-key.ts';
import { roleNeededFor } from '../../domain/account/role-table.ts';
import { mayActAs, type User } from '../../domain/account/user.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiContext, type ApiDeps, callerOf, type Guard } from '../api-env.ts';
import type { KeyCache } from './key-cache.ts';
import { routesOf } from './request-identity.ts';

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

/** What descriptions of the operator's routes say. */
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
