/** Authentication by API key, and the scopes that routes require. */
import { type ApiKey, type ApiScope, hashOfKey, mayUse } from '../../domain/account/api-key.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiContext, type ApiDeps, type Caller, callerOf, type Guard } from '../api-env.ts';
import { quotaOf } from './rate-limit.ts';

const BEARER = /^Bearer +([!-~]{1,200})$/i;

/** `lastUsedAt` is known to the minute, so that using a key doesn't write at every request. */
const TOUCH_MS = 60_000;

type KeyDeps = Pick<ApiDeps, 'accounts' | 'apiKeys' | 'clock' | 'operatorKeys'>;

/** Sets `caller`. Refuses no request: one without a key must be counted first. */
export async function authenticate(context: ApiContext, deps: KeyDeps): Promise<void> {
  const keyText = BEARER.exec(context.req.header('authorization') ?? '')?.[1];
  if (keyText !== undefined) context.set('caller', await callerWith(keyText, deps));
}

/** Undefined when the key is unknown or revoked. */
async function callerWith(
  keyText: string,
  { accounts, apiKeys, clock, operatorKeys }: KeyDeps,
): Promise<Caller | undefined> {
  const hash = hashOfKey(keyText);
  const ofDashboard = await operatorKeys?.findByHash(hash);
  const apiKey = ofDashboard ?? (await apiKeys.findByHash(hash));
  const account = apiKey && (await accounts.find(apiKey.accountId));
  if (apiKey === undefined || account === undefined || apiKey.revokedAt !== null) return undefined;
  const isDashboard = ofDashboard !== undefined;
  const now = clock.now();
  const unusedMs = now.getTime() - (apiKey.lastUsedAt?.getTime() ?? Number.NEGATIVE_INFINITY);
  if (!isDashboard && unusedMs >= TOUCH_MS) await apiKeys.touch(apiKey.id, now);
  return { apiKey, account, isDashboard, quota: quotaOf(apiKey, account.plan, isDashboard) };
}

/** Whether a key that was good when a long answer began still is: neither revoked nor, as one of the dashboard, dead. */
export async function isKeyAlive(
  { id, accountId }: Pick<ApiKey, 'id' | 'accountId'>,
  { apiKeys, operatorKeys }: Pick<ApiDeps, 'apiKeys' | 'operatorKeys'>,
): Promise<boolean> {
  return (
    (await operatorKeys?.isAlive(id)) === true ||
    (await apiKeys.find(accountId, id))?.revokedAt === null
  );
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
