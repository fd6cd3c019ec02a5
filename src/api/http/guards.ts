/** What every request of the interface passes before its route: who asks, how often, and with which body. */
import type { ApiDeps, Guard } from '../api-env.ts';
import { authentication } from './authentication.ts';
import type { KeyCache } from './key-cache.ts';
import { limitBody } from './limit-body.ts';
import { rateLimit } from './rate-limit.ts';

export function admission(deps: ApiDeps, keys: KeyCache): Guard {
  const authenticate = authentication(keys);
  const count = rateLimit(deps);
  return (context) => {
    authenticate(context);
    count(context);
    return limitBody(context);
  };
}
