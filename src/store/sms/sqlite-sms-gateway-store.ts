/** SMS gateways in SQLite. */
import type { Scope } from '../../domain/agent/agent.ts';
import type { PageRange } from '../../domain/ids.ts';
import { ServiceError } from '../../domain/service-error.ts';
import {
  SMS_GATEWAY_LIMITS,
  type SmsGateway,
  type SmsGatewayKind,
  type SmsGatewayStore,
} from '../../domain/sms/sms-gateway.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import { inScope, type Queries } from '../queries.ts';
import { NamedRecords } from '../sqlite/named-records.ts';
import { build } from '../sqlite/schema.ts';

/** Keeps SMS gateways in SQLite. */
export class SqliteSmsGatewayStore implements SmsGatewayStore {
  readonly #database: Queries;
  readonly #box: SecretBox;
  readonly #gateways: NamedRecords<SmsGateway>;

  constructor(database: Queries, box: SecretBox) {
    this.#database = database;
    this.#box = box;
    this.#gateways = gatewaysIn(database, box);
  }

  async insert(gateway: SmsGateway): Promise<void> {
    const { name } = gateway;
    const { gatewaysMax } = SMS_GATEWAY_LIMITS;
    await this.#database.transaction(async (transaction) => {
      const gateways = gatewaysIn(transaction, this.#box);
      if ((await gateways.find(gateway, name)) !== undefined) {
        throw conflict(`Cannot make the SMS gateway "${name}": there is one with this name`);
      }
      if ((await gateways.count(gateway)) >= gatewaysMax) {
        throw conflict(`Cannot make the SMS gateway: there are ${gatewaysMax} already`);
      }
      await gateways.insert(gateway);
    });
  }

  update(gateway: SmsGateway): Promise<void> {
    return this.#gateways.update(gateway);
  }

  async delete(scope: Scope, name: string): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      const agents = build.selectFrom('agents').select('name').where(inScope(scope));
      const user = await transaction.get(agents.where('sms_gateway', '=', name).limit(1));
      if (user !== undefined) {
        throw conflict(
          `Cannot delete the SMS gateway "${name}": the agent "${user.name}" names it`,
        );
      }
      await gatewaysIn(transaction, this.#box).delete(scope, name);
    });
  }

  find(scope: Scope, name: string): Promise<SmsGateway | undefined> {
    return this.#gateways.find(scope, name);
  }

  async findById(id: string): Promise<SmsGateway | undefined> {
    const query = build.selectFrom('sms_gateways').selectAll().where('id', '=', id);
    return (await this.#gateways.read(query))[0];
  }

  ofKind(kind: SmsGatewayKind): Promise<readonly SmsGateway[]> {
    const query = build.selectFrom('sms_gateways').selectAll().where('kind', '=', kind);
    return this.#gateways.read(query);
  }

  async list(
    scope: Scope,
    page: PageRange,
  ): Promise<{ readonly gateways: readonly SmsGateway[]; readonly total: number }> {
    const { records: gateways, total } = await this.#gateways.page(scope, page);
    return { gateways, total };
  }
}

function gatewaysIn(database: Queries, box: SecretBox): NamedRecords<SmsGateway> {
  const format = { json: ['allowedLinks', 'template'] } as const;
  return new NamedRecords(database, { table: 'sms_gateways', box, format });
}

function conflict(message: string): ServiceError {
  return new ServiceError('CONFLICT', message);
}
