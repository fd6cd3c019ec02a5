/** Writes the log of requests and the audit log: one entry for each request, or change, that was answered, by any route. */

import { type AuditEntry, isAudited, resourceOf } from '../../domain/account/audit-log.ts';
import { isListed, type RequestEntry } from '../../domain/account/request-log.ts';
import type { ApiContext, ApiDeps, Guard } from '../api-env.ts';
import { clientAddress } from './client-address.ts';
import { routeOf } from './request-identity.ts';

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

/** Comes before authentication, so that refused attempts to sign in pass it too. */
export function audit(deps: ApiDeps): Guard {
  return async (context, next) => {
    await next();
    const entry = entryOf(context, deps);
    if (entry === undefined) return;
    try {
      await deps.auditLog.append(entry);
    } catch (error) {
      // The change is committed, so the answer stays as it is.
      const { action, id: auditId } = entry;
      const requestId = context.get('requestId');
      deps.metrics.auditFailed();
      deps.log.error({ err: error, requestId, auditId, action }, 'audit: entry not written');
    }
  };
}

function entryOf(context: ApiContext, deps: ApiDeps): AuditEntry | undefined {
  const { method, path } = context.req;
  const { status, headers } = context.res;
  const route = routeOf(context);
  const action = `${method} ${route}`;
  if (!isAudited(action, status) || headers.has('Idempotent-Replayed')) return undefined;
  const location = headers.get('Location') ?? undefined;
  return {
    id: deps.newId('aud'),
    at: deps.clock.now(),
    ...actorOf(context),
    address: clientAddress(context, deps.isTrustedProxy) ?? null,
    action,
    resource: context.get('auditResource') ?? resourceOf(route, path, location),
    status,
  };
}

/** Fields of both logs: who asked, and in which account. */
function actorOf(
  context: ApiContext,
): Pick<RequestEntry, 'actor' | 'actorId' | 'actorName' | 'accountId' | 'environment'> {
  const caller = context.get('caller');
  const user = context.get('user') ?? caller?.user;
  const apiKey = caller?.apiKey;
  const scope = {
    accountId: apiKey?.accountId ?? null,
    environment: apiKey?.environment ?? null,
  };
  if (user !== undefined)
    return { actor: 'user', actorId: user.id, actorName: user.name, ...scope };
  if (apiKey === undefined) return { actor: 'none', actorId: null, actorName: null, ...scope };
  const { id, prefix, lastFour } = apiKey;
  return { actor: 'key', actorId: id, actorName: `${prefix}…${lastFour}`, ...scope };
}
