/** Who may do what concerns all accounts of the installation. */
import { ServiceError } from '../domain/service-error.ts';
import { type ApiContext, type ApiDeps, callerOf } from './api-env.ts';

/** What descriptions of the operator's routes say. */
export const NEEDS_OPERATOR_KEY = 'Needs a live key of the first account.';

/** Whether the request comes from an admin at the dashboard, or with a live key of the first account that has the scope `admin`. */
export async function isOperator(
  context: ApiContext,
  { numberOwners }: Pick<ApiDeps, 'numberOwners'>,
): Promise<boolean> {
  const { apiKey, user } = callerOf(context);
  if (apiKey.environment !== 'live') return false;
  if (user !== undefined) return user.role === 'admin';
  return (
    apiKey.accountId === (await numberOwners.firstAccountId()) && apiKey.scopes.includes('admin')
  );
}

/** @throws {ServiceError} FORBIDDEN for other keys. */
export async function requireOperator(
  context: ApiContext,
  deps: Pick<ApiDeps, 'numberOwners'>,
): Promise<void> {
  if (await isOperator(context, deps)) return;
  throw new ServiceError(
    'FORBIDDEN',
    'Cannot use this API key: it needs to be a live key of the first account, with the scope "admin"',
  );
}
