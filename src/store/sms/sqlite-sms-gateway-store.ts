/** SMS gateways in SQLite. */
import type { Scope } from '../../domain/agent/agent.ts';
import { ServiceError } from '../../domain/service-error.ts';
import {
  SMS_GATEWAY_LIMITS,
  type SmsGateway,
  type SmsGatewayKind,
  type SmsGatewayStore,
} from '../../domain/sms/sms-gateway.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Queries } from '../queries.ts';
import { type RowOf, recordOf, rowOf } from '../sqlite/rows.ts';
import { build } from '../sqlite/schema.ts';
import { opened, sealed } from '../sqlite/sealed-columns.ts';

/** Keeps SMS gateways in SQLite. */
export class SqliteSmsGatewayStore implements SmsGatewayStore {
  readonly #database: Queries;
  readonly #box: SecretBox;

  constructor(database: Queries, box: SecretBox) {
    this.#database = database;
    this.#box = box;
  }

  async insert(gateway: SmsGateway): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      const store = new SqliteSmsGatewayStore(transaction, this.#box);
      if ((await store.find(gateway, gateway.name)) !== undefined) {
        throw conflict(
          `Cannot make the SMS gateway "${gateway.name}": there is one with this name`,
        );
      }
      const { gatewaysMax } = SMS_GATEWAY_LIMITS;
      if ((await countOf(transaction, gateway)) >= gatewaysMax) {
        throw conflict(`Cannot make the SMS gateway: there are ${gatewaysMax} already`);
      }
      await transaction.run(
        build.insertInto('sms_gateways').values(sealed(this.#box, 'sms_gateways', rowOf(gateway))),
      );
    });
  }

  async update(gateway: SmsGateway): Promise<void> {
    await this.#database.run(
      build
        .updateTable('sms_gateways')
        .set(sealed(this.#box, 'sms_gateways', rowOf(gateway)))
        .where('id', '=', gateway.id),
    );
  }

  async delete({ accountId, environment }: Scope, name: string): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      const user = await transaction.get(
        build
          .selectFrom('agents')
          .select('name')
          .where('account_id', '=', accountId)
          .where('environment', '=', environment)
          .where('sms_gateway', '=', name)
          .limit(1),
      );
      if (user !== undefined) {
        throw conflict(
          `Cannot delete the SMS gateway "${name}": the agent "${user.name}" names it`,
        );
      }
      await transaction.run(
        build
          .deleteFrom('sms_gateways')
          .where('account_id', '=', accountId)
          .where('environment', '=', environment)
          .where('name', '=', name),
      );
    });
  }

  async find(scope: Scope, name: string): Promise<SmsGateway | undefined> {
    const row = await this.#database.get(gatewaysOf(scope).selectAll().where('name', '=', name));
    return row === undefined ? undefined : gatewayOf(this.#box, row);
  }

  async findById(id: string): Promise<SmsGateway | undefined> {
    const query = build.selectFrom('sms_gateways').selectAll().where('id', '=', id);
    const row = await this.#database.get(query);
    return row === undefined ? undefined : gatewayOf(this.#box, row);
  }

  async ofKind(kind: SmsGatewayKind): Promise<readonly SmsGateway[]> {
    const query = build.selectFrom('sms_gateways').selectAll().where('kind', '=', kind);
    return (await this.#database.all(query)).map((row) => gatewayOf(this.#box, row));
  }

  async list(
    scope: Scope,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly gateways: readonly SmsGateway[]; readonly total: number }> {
    const page = gatewaysOf(scope).selectAll().orderBy('name').limit(limit).offset(offset);
    return {
      gateways: (await this.#database.all(page)).map((row) => gatewayOf(this.#box, row)),
      total: await countOf(this.#database, scope),
    };
  }
}

async function countOf(database: Queries, scope: Scope): Promise<number> {
  const count = gatewaysOf(scope).select((expression) => expression.fn.countAll<number>().as('n'));
  return (await database.get(count))?.n ?? 0;
}

function gatewaysOf({ accountId, environment }: Scope) {
  return build
    .selectFrom('sms_gateways')
    .where('account_id', '=', accountId)
    .where('environment', '=', environment);
}

function gatewayOf(box: SecretBox, row: RowOf<SmsGateway>): SmsGateway {
  return recordOf<SmsGateway>(opened(box, 'sms_gateways', row), {
    json: ['allowedLinks', 'template'],
  });
}

function conflict(message: string): ServiceError {
  return new ServiceError('CONFLICT', message);
}
