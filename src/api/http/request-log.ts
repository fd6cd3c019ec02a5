/** Writes the log of requests: one entry for each that was answered, whichever route answered it. */
import { isListed } from '../../domain/account/request-log.ts';
import type { ApiContext, ApiDeps, Guard } from '../api-env.ts';
import { routeOf } from './matched-route.ts';

/** Comes before authentication, so that refused requests pass it too. */
export function listRequest(deps: Pick<ApiDeps, 'clock' | 'requestLog'>): Guard {
  return async (context, next) => {
    const at = deps.clock.now();
    const startMs = deps.clock.nowMs();
    await next();
    const { method } = context.req;
    const { status } = context.res;
    const route = routeOf(context);
    const isDashboard =
      route.startsWith('/dashboard') || context.get('caller')?.isDashboard === true;
    if (!isListed({ method, route, status, isDashboard })) return;
    deps.requestLog.add({
      requestId: context.get('requestId'),
      ...{ at, method, route, status },
      errorCode: context.get('errorCode') ?? null,
      durationMs: Math.round(deps.clock.nowMs() - startMs),
      ...actorOf(context),
    });
  };
}

function actorOf(context: ApiContext) {
  const caller = context.get('caller');
  const user = context.get('user') ?? caller?.user;
  const accountId = caller?.apiKey.accountId ?? null;
  const scope = { accountId, environment: caller?.apiKey.environment ?? null };
  if (user !== undefined) {
    return { actor: 'user', actorId: user.id, actorName: user.name, ...scope } as const;
  }
  if (caller === undefined) {
    return { actor: 'none', actorId: null, actorName: null, ...scope } as const;
  }
  const { id, prefix, lastFour } = caller.apiKey;
  return { actor: 'key', actorId: id, actorName: `${prefix}…${lastFour}`, ...scope } as const;
}
