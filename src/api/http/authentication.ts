/** Authentication by API key, and the scopes that routes require. */
import { type ApiScope, mayUse } from '../../domain/account/api-key.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiContext, callerOf, type Guard } from '../api-env.ts';
import type { KeyCache } from './key-cache.ts';

const BEARER = /^Bearer +([!-~]{1,200})$/i;

/** Sets `caller`. Refuses no request: one without a key must be counted first. */
export function authentication(keys: KeyCache): Guard {
  return async (context, next) => {
    const keyText = BEARER.exec(context.req.header('authorization') ?? '')?.[1];
    context.set('caller', keyText === undefined ? undefined : await keys.callerOf(keyText));
    return next();
  };
}

/** @throws {ServiceError} UNAUTHORIZED without a valid key, FORBIDDEN when the key lacks the scope. */
export function checkScope(context: ApiContext, scope: ApiScope): void {
  if (mayUse(callerOf(context).apiKey, scope)) return;
  throw new ServiceError('FORBIDDEN', `Cannot use this API key: it lacks the scope "${scope}"`);
}

/** Scope by guard, for the OpenAPI document. */
const SCOPES = new WeakMap<object, ApiScope>();

/** Guard of a route: 401 without a valid key, 403 when the key lacks `scope`. */
export function requireScope(scope: ApiScope): Guard {
  const guard: Guard = (context, next) => {
    checkScope(context, scope);
    return next();
  };
  SCOPES.set(guard, scope);
  return guard;
}

/** The scope that a guard made by `requireScope` checks; undefined for other handlers. */
export function scopeRequiredBy(guard: object): ApiScope | undefined {
  return SCOPES.get(guard);
}
