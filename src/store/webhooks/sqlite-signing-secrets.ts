/** Signing secrets in SQLite: one row an environment, with the prepared and the previous secret. */
import { sql } from 'kysely';
import { PREVIOUS_SECRET_KEPT_MS, type SigningSecrets } from '../../domain/account/account.ts';
import type { Scope } from '../../domain/agent/agent.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Database } from '../sqlite/database.ts';
import { build, type SigningSecretRow } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';

type FreshRow = Pick<SigningSecretRow, 'account_id' | 'environment' | 'secret' | 'created_at'>;

const FRESH_COLUMNS = ['account_id', 'environment', 'secret', 'created_at'] as const;

function prepareSecrets(database: Database) {
  const update = (take: Take<Scope>) =>
    build
      .updateTable('signing_secrets')
      .where('account_id', '=', take('accountId'))
      .where('environment', '=', take('environment'));
  return {
    insert: database.prepare((take: Take<FreshRow>) =>
      build.insertInto('signing_secrets').values({
        ...takeAll(take, FRESH_COLUMNS),
        prepared_secret: null,
        previous_secret: null,
        rotated_at: null,
      }),
    ),
    find: database.prepare((take: Take<Scope>) =>
      build
        .selectFrom('signing_secrets')
        .select(['secret', 'prepared_secret', 'previous_secret', 'rotated_at'])
        .where('account_id', '=', take('accountId'))
        .where('environment', '=', take('environment')),
    ),
    prepare: database.prepare((take: Take<Scope & { readonly secret: string }>) =>
      update(take)
        .set({ prepared_secret: take('secret') })
        .where('prepared_secret', 'is', null),
    ),
    activate: database.prepare((take: Take<Scope & { readonly now: number }>) =>
      update(take)
        .set({
          secret: sql<string>`prepared_secret`,
          prepared_secret: null,
          previous_secret: sql<string>`secret`,
          rotated_at: take('now'),
        })
        .where('prepared_secret', 'is not', null),
    ),
    prepared: database.prepare((take: Take<Scope>) => update(take).set({ prepared_secret: null })),
    previous: database.prepare((take: Take<Scope>) =>
      update(take).set({ previous_secret: null, rotated_at: null }),
    ),
  };
}

/** Keeps the signing secrets of accounts; `insert` runs inside the transaction that founds one. */
export class SqliteSigningSecrets {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareSecrets>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareSecrets(database);
  }

  insert(row: FreshRow): void {
    this.#statements.insert.run(row);
  }

  find({ accountId, environment }: Scope, now: Date): SigningSecrets | undefined {
    const row = this.#database.read(() => this.#statements.find.get({ accountId, environment }));
    return row === undefined ? undefined : secretsOf(row, now);
  }

  prepare(scope: Scope, secret: string, now: Date): SigningSecrets {
    return this.#changed(scope, now, () => {
      if (this.#statements.prepare.run({ ...scope, secret }) > 0) return;
      const why = 'one is prepared already; activate it, or drop it';
      throw new ServiceError('CONFLICT', `Cannot prepare a signing secret: ${why}`);
    });
  }

  activate(scope: Scope, now: Date): SigningSecrets {
    return this.#changed(scope, now, () => {
      if (this.#statements.activate.run({ ...scope, now: now.getTime() }) > 0) return;
      throw new ServiceError('CONFLICT', 'Cannot activate a signing secret: none is prepared');
    });
  }

  drop(scope: Scope, which: 'prepared' | 'previous', now: Date): SigningSecrets {
    return this.#changed(scope, now, () => this.#statements[which].run(scope));
  }

  #changed(scope: Scope, now: Date, change: () => unknown): SigningSecrets {
    return this.#database.together(() => {
      change();
      const secrets = this.find(scope, now);
      if (secrets === undefined) {
        throw new Error(`Cannot change the signing secrets of "${scope.accountId}": none found`);
      }
      return secrets;
    });
  }
}

function secretsOf(
  row: Pick<SigningSecretRow, 'secret' | 'prepared_secret' | 'previous_secret' | 'rotated_at'>,
  now: Date,
): SigningSecrets {
  const until = row.rotated_at === null ? null : row.rotated_at + PREVIOUS_SECRET_KEPT_MS;
  const isKept = row.previous_secret !== null && until !== null && until > now.getTime();
  return {
    current: row.secret,
    prepared: row.prepared_secret,
    previous: isKept ? row.previous_secret : null,
    previousUntil: isKept ? new Date(until) : null,
  };
}
