/** Accounts and their signing secrets as customers see them; pure */
import type { z } from '@hono/zod-openapi';
import type { Account, Environment, SigningSecrets } from '../../domain/account/account.ts';
import { monthOf } from '../../domain/analytics/period.ts';
import type { accountSchema, signingSecretSchema } from '../schemas/account-schemas.ts';
import { minutesOf, rounded } from './rounding.ts';

/** @param usage.seconds billed in the calendar month that `usage.now` lies in. */
export function serializeAccount(
  account: Account,
  usage: { readonly environment: Environment; readonly seconds: number; readonly now: Date },
): z.infer<typeof accountSchema> {
  const { minutesIncluded, allowedCountries } = account;
  const minutesUsed = minutesOf(usage.seconds);
  const { startsAt, endsAt } = monthOf(usage.now);
  return {
    id: account.id,
    name: account.name,
    plan: account.plan,
    environment: usage.environment,
    minutesIncluded,
    minutesUsed,
    minutesRemaining: rounded(Math.max(0, minutesIncluded - minutesUsed), 1),
    period: {
      start: startsAt.toISOString(),
      end: new Date(endsAt.getTime() - 1).toISOString(),
    },
    transferTargets: [...account.transferTargets],
    allowedCountries: allowedCountries === null ? null : [...allowedCountries],
    retention: { ...account.retention },
    createdAt: account.createdAt.toISOString(),
  };
}

export function serializeSigningSecret(
  secrets: SigningSecrets,
): z.infer<typeof signingSecretSchema> {
  return {
    signingSecret: secrets.current,
    preparedSecret: secrets.prepared,
    previousSecret: secrets.previous,
    previousValidUntil: secrets.previousUntil?.toISOString() ?? null,
  };
}
