/** Accounts and their signing secrets in SQLite. */
import { sql } from 'kysely';
import {
  type Account,
  type Environment,
  type Plan,
  PREVIOUS_SECRET_KEPT_MS,
  type SigningSecrets,
} from '../../domain/account/account.ts';
import type { AccountStore, Founding } from '../../domain/account/account-store.ts';
import type { Scope } from '../../domain/agent/agent.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Database } from '../sqlite/database.ts';
import { type AccountRow, build, type SigningSecretRow } from '../sqlite/schema.ts';
import { keyRowOf } from './sqlite-api-key-store.ts';

/** Keeps accounts in SQLite; their signing secrets are one row an environment. */
export class SqliteAccountStore implements AccountStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  found({ account, signingSecrets, apiKeys }: Founding): void {
    const row = accountRowOf(account);
    const { id: account_id, created_at } = row;
    const none = { prepared_secret: null, previous_secret: null, rotated_at: null };
    this.#database.write(() => {
      this.#database.run(build.insertInto('accounts').values(row));
      for (const [environment, secret] of Object.entries(signingSecrets)) {
        const secrets = { account_id, environment, secret, created_at, ...none };
        this.#database.run(build.insertInto('signing_secrets').values(secrets));
      }
      for (const { apiKey, hash } of apiKeys) {
        this.#database.run(build.insertInto('api_keys').values(keyRowOf(apiKey, hash)));
      }
    });
  }

  find(accountId: string): Account | undefined {
    const query = build.selectFrom('accounts').selectAll().where('id', '=', accountId);
    const row = this.#database.get(query);
    return row === undefined ? undefined : accountOf(row);
  }

  count(): number {
    const query = build.selectFrom('accounts');
    const count = query.select((expression) => expression.fn.countAll<number>().as('n'));
    return this.#database.get(count)?.n ?? 0;
  }

  list(): readonly Account[] {
    const query = build.selectFrom('accounts').selectAll().orderBy('created_at').orderBy('id');
    return this.#database.all(query).map(accountOf);
  }

  update(account: Account): void {
    const row = accountRowOf(account);
    this.#database.run(build.updateTable('accounts').set(row).where('id', '=', account.id));
  }

  signingSecrets(
    accountId: string,
    environment: Environment,
    now: Date,
  ): SigningSecrets | undefined {
    const query = build
      .selectFrom('signing_secrets')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('environment', '=', environment);
    const row = this.#database.get(query);
    return row === undefined ? undefined : secretsOf(row, now);
  }

  prepareSigningSecret(scope: Scope, secret: string, now: Date): SigningSecrets {
    return this.#changed(scope, now, () => {
      const prepare = secretsUpdate(scope)
        .set({ prepared_secret: secret })
        .where('prepared_secret', 'is', null);
      if (this.#database.run(prepare) > 0) return;
      const why = 'one is prepared already; activate it, or drop it';
      throw new ServiceError('CONFLICT', `Cannot prepare a signing secret: ${why}`);
    });
  }

  activateSigningSecret(scope: Scope, now: Date): SigningSecrets {
    return this.#changed(scope, now, () => {
      const activate = secretsUpdate(scope)
        .set({
          secret: sql<string>`prepared_secret`,
          prepared_secret: null,
          previous_secret: sql<string>`secret`,
          rotated_at: now.getTime(),
        })
        .where('prepared_secret', 'is not', null);
      if (this.#database.run(activate) > 0) return;
      throw new ServiceError('CONFLICT', 'Cannot activate a signing secret: none is prepared');
    });
  }

  dropSigningSecret(scope: Scope, which: 'prepared' | 'previous', now: Date): SigningSecrets {
    const dropped =
      which === 'prepared'
        ? { prepared_secret: null }
        : { previous_secret: null, rotated_at: null };
    return this.#changed(scope, now, () => this.#database.run(secretsUpdate(scope).set(dropped)));
  }

  #changed(scope: Scope, now: Date, change: () => unknown): SigningSecrets {
    return this.#database.together(() => {
      change();
      const secrets = this.signingSecrets(scope.accountId, scope.environment, now);
      if (secrets === undefined) {
        throw new Error(`Cannot change the signing secrets of "${scope.accountId}": none found`);
      }
      return secrets;
    });
  }
}

function secretsUpdate({ accountId, environment }: Scope) {
  return build
    .updateTable('signing_secrets')
    .where('account_id', '=', accountId)
    .where('environment', '=', environment);
}

function secretsOf(row: SigningSecretRow, now: Date): SigningSecrets {
  const until = row.rotated_at === null ? null : row.rotated_at + PREVIOUS_SECRET_KEPT_MS;
  const isKept = row.previous_secret !== null && until !== null && until > now.getTime();
  return {
    current: row.secret,
    prepared: row.prepared_secret,
    previous: isKept ? row.previous_secret : null,
    previousUntil: isKept ? new Date(until) : null,
  };
}

function accountRowOf(account: Account): AccountRow {
  return {
    id: account.id,
    name: account.name,
    plan: account.plan,
    minutes_included: account.minutesIncluded,
    transfer_targets: JSON.stringify(account.transferTargets),
    allowed_countries:
      account.allowedCountries === null ? null : JSON.stringify(account.allowedCountries),
    recordings_days: account.retention.recordingsDays,
    transcripts_days: account.retention.transcriptsDays,
    calls_days: account.retention.callsDays,
    created_at: account.createdAt.getTime(),
  };
}

function accountOf(row: AccountRow): Account {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan as Plan,
    minutesIncluded: row.minutes_included,
    transferTargets: JSON.parse(row.transfer_targets) as Account['transferTargets'],
    allowedCountries:
      row.allowed_countries === null ? null : (JSON.parse(row.allowed_countries) as string[]),
    retention: {
      recordingsDays: row.recordings_days,
      transcriptsDays: row.transcripts_days,
      callsDays: row.calls_days,
    },
    createdAt: new Date(row.created_at),
  };
}
