/** What every request of the interface passes before its route: who asks, how often, and with which body. */
import type { MiddlewareHandler } from 'hono';
import type { ApiDeps, ApiEnv } from '../api-env.ts';
import { authentication } from './authentication.ts';
import { limitBody } from './limit-body.ts';
import { rateLimit } from './rate-limit.ts';

/** One step for Hono, because each of its steps costs a promise. */
export function admission(deps: ApiDeps): MiddlewareHandler<ApiEnv> {
  const authenticate = authentication(deps);
  const count = rateLimit(deps);
  return async (context, next) => {
    authenticate(context);
    count(context);
    return limitBody(context, next);
  };
}
