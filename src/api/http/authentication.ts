/** Authentication by API key, and the scopes that routes require. */
import { type ApiScope, mayUse } from '../../domain/account/api-key.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiContext, callerOf, type Guard } from '../api-env.ts';
import type { KeyCache } from './key-cache.ts';

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
