/** SMS gateways, messages and opt-outs in SQLite. */
import { sql } from 'kysely';
import type { Scope } from '../domain/agent/agent.ts';
import type { Page, PageRange } from '../domain/ids.ts';
import { conflict } from '../domain/service-error.ts';
import {
  SMS_GATEWAY_LIMITS,
  type SmsGateway,
  type SmsGatewayKind,
  type SmsGatewayStore,
} from '../domain/sms/sms-gateway.ts';
import {
  SMS_CAPS,
  type SmsMessage,
  type SmsMessageStore,
  type SmsRefusal,
} from '../domain/sms/sms-message.ts';
import type { OptOut, OptOutStore } from '../domain/sms/sms-rules.ts';
import { DAY_MS } from '../lib/clock.ts';
import type { SecretBox } from '../lib/secrets.ts';
import { allOf, countOf, firstOf, inScope, pageOf, type Queries, SqliteStore } from './queries.ts';
import { NamedRecords } from './sqlite/named-records.ts';
import { recordOf, rowOf } from './sqlite/rows.ts';
import { build } from './sqlite/schema.ts';

/** Keeps SMS gateways in SQLite. */
export class SqliteSmsGatewayStore extends NamedRecords<SmsGateway> implements SmsGatewayStore {
  constructor(database: Queries, box: SecretBox) {
    const format = { json: ['allowedLinks', 'template'] } as const;
    const limit = { kind: 'SMS gateway', max: SMS_GATEWAY_LIMITS.gatewaysMax };
    super(database, { table: 'sms_gateways', box, format, ...limit, release: requireUnnamed });
  }

  async findById(id: string): Promise<SmsGateway | undefined> {
    const query = build.selectFrom('sms_gateways').selectAll().where('id', '=', id);
    return (await this.read(query))[0];
  }

  ofKind(kind: SmsGatewayKind): Promise<readonly SmsGateway[]> {
    return this.read(build.selectFrom('sms_gateways').selectAll().where('kind', '=', kind));
  }
}

/** @throws {ServiceError} CONFLICT when an agent names the gateway. */
async function requireUnnamed(transaction: Queries, scope: Scope, name: string): Promise<void> {
  const agents = build.selectFrom('agents').select('name').where(inScope(scope));
  const user = await transaction.get(agents.where('sms_gateway', '=', name).limit(1));
  if (user === undefined) return;
  throw conflict(`Cannot delete the SMS gateway "${name}": the agent "${user.name}" names it`);
}

/** Keeps messages in SQLite. */
export class SqliteSmsMessageStore extends SqliteStore implements SmsMessageStore {
  async admit(message: SmsMessage, dailyMax: number): Promise<SmsRefusal | undefined> {
    return this.database.transaction(async (transaction) => {
      const refusal = await refusalOf(transaction, message, dailyMax);
      if (refusal !== undefined) return refusal;
      await transaction.run(build.insertInto('sms_messages').values(rowOf(message)));
      return undefined;
    });
  }

  async insert(message: SmsMessage): Promise<void> {
    await this.database.run(build.insertInto('sms_messages').values(rowOf(message)));
  }

  async update(message: SmsMessage): Promise<void> {
    const { id, status, reason, provider_id, updated_at } = rowOf(message);
    const changed = build.updateTable('sms_messages');
    const changes = { status, reason, provider_id, updated_at };
    await this.database.run(changed.set(changes).where('id', '=', id));
  }

  async find(scope: Scope, id: string): Promise<SmsMessage | undefined> {
    return firstOf(
      this.database,
      messagesOf(scope).selectAll().where('id', '=', id),
      recordOf<SmsMessage>,
    );
  }

  async findByProviderId(
    scope: Scope & { readonly gateway: string },
    providerId: string,
  ): Promise<SmsMessage | undefined> {
    const query = messagesOf(scope)
      .selectAll()
      .where('gateway', '=', scope.gateway)
      .where('provider_id', '=', providerId);
    return firstOf(this.database, query, recordOf<SmsMessage>);
  }

  async accepted(): Promise<readonly SmsMessage[]> {
    // The same condition as in the index `sms_messages_accepted`.
    const query = build.selectFrom('sms_messages').selectAll();
    const accepted = query.where('status', '=', sql.lit('accepted'));
    return allOf(this.database, accepted, recordOf<SmsMessage>);
  }

  async ofCall(callId: string): Promise<readonly SmsMessage[]> {
    const query = build.selectFrom('sms_messages').selectAll().where('call_id', '=', callId);
    const oldestFirst = query.orderBy('created_at').orderBy('id');
    return allOf(this.database, oldestFirst, recordOf<SmsMessage>);
  }
}

function messagesOf(scope: Scope) {
  return build.selectFrom('sms_messages').where(inScope(scope));
}

async function refusalOf(
  database: Queries,
  message: SmsMessage,
  dailyMax: number,
): Promise<SmsRefusal | undefined> {
  const { callId, createdAt, to } = message;
  const isOut = optOutsOf(message).select('number').where('number', '=', to);
  if ((await database.get(isOut)) !== undefined) return 'opted-out';
  const ofCall = await new SqliteSmsMessageStore(database).ofCall(callId);
  const isSame = ({ text, status }: SmsMessage) => text === message.text && status !== 'failed';
  if (ofCall.some(isSame)) return 'repeated';
  if (ofCall.length >= SMS_CAPS.perCall) return 'call-cap';
  const midnightMs = Math.floor(createdAt.getTime() / DAY_MS) * DAY_MS;
  const today = messagesOf(message).where('created_at', '>=', midnightMs);
  if ((await countOf(database, today.where('to', '=', to))) >= SMS_CAPS.perNumberADay) {
    return 'number-cap';
  }
  return (await countOf(database, today)) >= dailyMax ? 'daily-cap' : undefined;
}

/** Keeps opt-outs in SQLite. */
export class SqliteOptOutStore extends SqliteStore implements OptOutStore {
  async add({ accountId, environment }: Scope, { number, createdAt }: OptOut): Promise<void> {
    const row = { account_id: accountId, environment, number, created_at: createdAt.getTime() };
    await this.database.run(build.insertInto('sms_opt_outs').orIgnore().values(row));
  }

  async remove(scope: Scope, number: string): Promise<boolean> {
    const removed = build.deleteFrom('sms_opt_outs').where(inScope(scope));
    return (await this.database.run(removed.where('number', '=', number))) > 0;
  }

  list(scope: Scope, range: PageRange): Promise<Page<OptOut>> {
    const every = optOutsOf(scope);
    const columns = every.select(['number', 'created_at']);
    const sorted = columns.orderBy('created_at', 'desc').orderBy('number');
    return pageOf(this.database, { every, sorted, range }, recordOf<OptOut>);
  }
}

/** The opt-outs of an account and environment. */
function optOutsOf(scope: Scope) {
  return build.selectFrom('sms_opt_outs').where(inScope(scope));
}
