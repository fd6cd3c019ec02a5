/** Writes the audit log: one entry for each change that was answered, whichever route made it. */
import {
  type AuditActor,
  type AuditEntry,
  isAudited,
  resourceOf,
} from '../../domain/account/audit-log.ts';
import type { ApiContext, ApiDeps, Guard } from '../api-env.ts';
import { clientAddress } from './client-address.ts';
import { routeOf } from './matched-route.ts';

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
  const caller = context.get('caller');
  return {
    id: deps.newId('aud'),
    at: deps.clock.now(),
    ...actorOf(context),
    address: clientAddress(context, deps.isTrustedProxy) ?? null,
    action,
    resource: context.get('auditResource') ?? resourceOf(route, path, location),
    status,
    accountId: caller?.apiKey.accountId ?? null,
    environment: caller?.apiKey.environment ?? null,
  };
}

function actorOf(context: ApiContext): {
  readonly actor: AuditActor;
  readonly actorId: string | null;
  readonly actorName: string | null;
} {
  const caller = context.get('caller');
  const user = context.get('user') ?? caller?.user;
  if (user !== undefined) return { actor: 'user', actorId: user.id, actorName: user.name };
  if (caller === undefined) return { actor: 'none', actorId: null, actorName: null };
  const { id, prefix, lastFour } = caller.apiKey;
  return { actor: 'key', actorId: id, actorName: `${prefix}…${lastFour}` };
}
