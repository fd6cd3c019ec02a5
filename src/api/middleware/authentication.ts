/** Finds out who asks, and holds back what their key may not do. */
import type { MiddlewareHandler } from 'hono';
import { type ApiScope, mayUse } from '../../domain/api-key.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiContext, type ApiDeps, type ApiEnv, callerOf } from '../api-env.ts';
import { KeyCache } from '../key-cache.ts';

const BEARER = /^Bearer +([!-~]{1,200})$/i;

/** Sets `caller`. Turns nobody away: a request without a key must be counted first. */
export function authentication(deps: ApiDeps): (context: ApiContext) => void {
  const keys = new KeyCache(deps);
  return (context) => {
    const keyText = BEARER.exec(context.req.header('Authorization') ?? '')?.[1];
    context.set('caller', keyText === undefined ? undefined : keys.callerOf(keyText));
  };
}

/** Which scope a handler made by `requireScope` needs, for the documentation. */
const SCOPES = new WeakMap<object, ApiScope>();

/** Lets through only keys that may do what needs `scope`: 401 without a valid key, 403 without the scope. */
export function requireScope(scope: ApiScope): MiddlewareHandler<ApiEnv> {
  const handler: MiddlewareHandler<ApiEnv> = async (context, next) => {
    if (!mayUse(callerOf(context).apiKey, scope)) {
      throw new ServiceError('FORBIDDEN', `Cannot use this API key: it lacks the scope "${scope}"`);
    }
    await next();
  };
  SCOPES.set(handler, scope);
  return handler;
}

/** The scope that lets a request through a handler; undefined where `requireScope` did not make it. */
export function scopeRequiredBy(handler: object): ApiScope | undefined {
  return SCOPES.get(handler);
}
