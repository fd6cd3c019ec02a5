/** Finds out who asks, and holds back what their key may not do. */
import { type ApiScope, mayUse } from '../../domain/account/api-key.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiContext, callerOf, type Guard } from '../api-env.ts';
import type { KeyCache } from './key-cache.ts';

const BEARER = /^Bearer +([!-~]{1,200})$/i;

/** Sets `caller`. Turns nobody away: a request without a key must be counted first. */
export function authentication(keys: KeyCache): (context: ApiContext) => void {
  return (context) => {
    const keyText = BEARER.exec(context.request.header('authorization') ?? '')?.[1];
    context.caller = keyText === undefined ? undefined : keys.callerOf(keyText);
  };
}

/** Which scope a guard made by `requireScope` needs, for the documentation. */
const SCOPES = new WeakMap<Guard, ApiScope>();

/** Lets through only keys that may do what needs `scope`: 401 without a valid key, 403 without the scope. */
export function requireScope(scope: ApiScope): (context: ApiContext) => void {
  const guard = (context: ApiContext) => {
    if (!mayUse(callerOf(context).apiKey, scope)) {
      throw new ServiceError('FORBIDDEN', `Cannot use this API key: it lacks the scope "${scope}"`);
    }
  };
  SCOPES.set(guard, scope);
  return guard;
}

/** The scope that lets a request through a guard; undefined where `requireScope` did not make it. */
export function scopeRequiredBy(guard: Guard): ApiScope | undefined {
  return SCOPES.get(guard);
}
