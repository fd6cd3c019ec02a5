/** Rate limit in fixed hours, with three headers that tell limit, remaining requests and reset. */
import type { Plan } from '../../domain/account/account.ts';
import type { ApiKey } from '../../domain/account/api-key.ts';
import {
  ANONYMOUS_REQUESTS_AN_HOUR,
  DASHBOARD_REQUESTS_AN_HOUR,
  RECORDING_REQUESTS_AN_HOUR,
  requestsAnHour,
  windowOf,
} from '../../domain/account/rate-limit.ts';
import type { User } from '../../domain/account/user.ts';
import { opensRecording } from '../../domain/call/recording-link.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext, ApiDeps, Quota } from '../api-env.ts';
import { clientAddress, clientOf } from './client-address.ts';

/**
 * Counts a request. Must come after authentication and before what else refuses requests.
 *
 * @throws {ServiceError} RATE_LIMITED when the hour is used up.
 */
export async function countRequest(context: ApiContext, deps: ApiDeps): Promise<void> {
  const now = deps.clock.now();
  const window = windowOf(now);
  const { subject, limit } = quotaFor(context, deps);
  context.header('X-RateLimit-Limit', String(limit));
  context.header('X-RateLimit-Reset', String(window.endsAt.getTime() / 1000));
  // None are left if the count fails.
  let left = 0;
  try {
    left = limit - (await deps.rates.count(subject, window));
  } finally {
    context.header('X-RateLimit-Remaining', String(Math.max(0, left)));
  }
  if (left >= 0) return;
  const waitSeconds = Math.ceil((window.endsAt.getTime() - now.getTime()) / 1000);
  context.header('Retry-After', String(Math.max(1, waitSeconds)));
  deps.metrics.rateLimited();
  throw new ServiceError(
    'RATE_LIMITED',
    `Cannot take more than ${limit} requests an hour: the next hour begins in ${waitSeconds} s`,
  );
}

function quotaFor(context: ApiContext, deps: ApiDeps): Quota {
  return context.get('caller')?.quota ?? linkQuota(context, deps) ?? anonymousQuota(context, deps);
}

/** The quota of a recording, for requests with a signed link to it: many people may listen from one address. */
function linkQuota(
  { req }: ApiContext,
  { recordingSecret: secret, clock }: ApiDeps,
): Quota | undefined {
  const callId = RECORDING_PATH.exec(req.path)?.[1];
  if (callId === undefined) return undefined;
  const { expires, signature } = req.query();
  if (expires === undefined || signature === undefined) return undefined;
  if (!opensRecording(callId, { expires, signature }, { secret, now: clock.now() }))
    return undefined;
  return { subject: `recording:${callId}`, limit: RECORDING_REQUESTS_AN_HOUR };
}

const RECORDING_PATH = /^\/api\/calls\/(call_\w+)\/recording$/;

function anonymousQuota(context: ApiContext, deps: ApiDeps): Quota {
  const client = clientOf(clientAddress(context, deps.isTrustedProxy));
  return { subject: `address:${client}`, limit: ANONYMOUS_REQUESTS_AN_HOUR };
}

/** The quota of a key's account and environment; of the user, for keys of the dashboard. */
export function quotaOf(
  { accountId, environment }: Pick<ApiKey, 'accountId' | 'environment'>,
  plan: Plan,
  user: Pick<User, 'id'> | undefined,
): Quota {
  if (user !== undefined) {
    const subject = `dashboard:${user.id}:${accountId}:${environment}`;
    return { subject, limit: DASHBOARD_REQUESTS_AN_HOUR };
  }
  return { subject: `account:${accountId}:${environment}`, limit: requestsAnHour(plan) };
}
