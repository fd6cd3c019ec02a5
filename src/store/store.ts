/** All stores of the domain, in one SQLite file. */
import { randomBytes } from 'node:crypto';
import type { Retention } from '../domain/account/account.ts';
import type { AccountRetention } from '../domain/account/account-retention.ts';
import type { AccountStore } from '../domain/account/account-store.ts';
import type { ApiKeyStore } from '../domain/account/api-key.ts';
import type { SecretStore } from '../domain/account/bootstrap.ts';
import type { ErasureStore, Leftovers } from '../domain/account/erasure.ts';
import type { IdempotencyStore, RateStore } from '../domain/account/rate-limit.ts';
import type { AgentStore } from '../domain/agent/agent.ts';
import type { AgentVersionStore } from '../domain/agent/agent-version.ts';
import type { AnalyticsStore } from '../domain/analytics/analytics-report.ts';
import type { AnalysisStore, CallStore } from '../domain/call/call.ts';
import type { CallQualityStore } from '../domain/call/call-life.ts';
import type { LiveFeed } from '../domain/call/live-sound.ts';
import type { DialogStore } from '../domain/call/open-dialog.ts';
import type { SipTraceStore } from '../domain/call/sip-trace.ts';
import type { NumberAssignments } from '../domain/dialing/number-owner.ts';
import type { NumberHolders } from '../domain/dialing/phone-number.ts';
import { idMaker } from '../domain/ids.ts';
import type { Outbox } from '../domain/webhook/outbox.ts';
import type { EventStore } from '../domain/webhook/service-event.ts';
import type { DeliveryStore } from '../domain/webhook/webhook-delivery.ts';
import type { WebhookEndpointStore } from '../domain/webhook/webhook-endpoint.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { SqliteAccountRetention } from './accounts/sqlite-account-retention.ts';
import { SqliteAccountStore } from './accounts/sqlite-account-store.ts';
import { SqliteApiKeyStore } from './accounts/sqlite-api-key-store.ts';
import { SqliteErasureStore, SqliteLeftovers } from './accounts/sqlite-erasure-store.ts';
import { SqliteIdempotencyStore } from './accounts/sqlite-idempotency-store.ts';
import { SqliteRetention } from './accounts/sqlite-retention.ts';
import { SqliteAgentStore, SqliteAgentVersionStore } from './agents/sqlite-agent-store.ts';
import { SqliteNumberAssignments, SqliteNumberHolders } from './agents/sqlite-phone-numbers.ts';
import { LiveWatchers } from './calls/live-watchers.ts';
import { SqliteAnalysisStore } from './calls/sqlite-analysis-store.ts';
import { SqliteAnalyticsStore } from './calls/sqlite-analytics-store.ts';
import { SqliteCallQualityStore, SqliteSipTraceStore } from './calls/sqlite-call-diagnostics.ts';
import { SqliteCallStore } from './calls/sqlite-call-store.ts';
import { SqliteDialogStore } from './calls/sqlite-dialog-store.ts';
import { Checkpointer } from './sqlite/checkpointer.ts';
import { type Database, openDatabase } from './sqlite/database.ts';
import { build } from './sqlite/schema.ts';
import type { FileSystemTypeOf } from './sqlite/sqlite-file.ts';
import { SqliteRateStore, SqliteSecretStore } from './sqlite/sqlite-server-state.ts';
import { SqliteDeliveryStore } from './webhooks/sqlite-delivery-store.ts';
import { SqliteEventStore } from './webhooks/sqlite-event-store.ts';
import { SqliteOutbox } from './webhooks/sqlite-outbox.ts';
import { SqliteWebhookEndpointStore } from './webhooks/sqlite-webhook-endpoint-store.ts';

const OPTIMIZE_MS = 86_400_000;

/** All stores. Every method is one transaction, and throws `StoreError` when disk or file fail. */
export interface Store {
  readonly accounts: AccountStore;
  readonly apiKeys: ApiKeyStore;
  readonly agents: AgentStore;
  readonly agentVersions: AgentVersionStore;
  readonly numberHolders: NumberHolders;
  readonly numberAssignments: NumberAssignments;
  readonly calls: CallStore;
  readonly qualities: CallQualityStore;
  /** Changes of calls as they are written. */
  readonly liveFeed: LiveFeed;
  readonly analyses: AnalysisStore;
  readonly sipTraces: SipTraceStore;
  readonly analytics: AnalyticsStore;
  readonly events: EventStore;
  readonly webhookEndpoints: WebhookEndpointStore;
  readonly deliveries: DeliveryStore;
  readonly outbox: Outbox;
  readonly dialogs: DialogStore;
  readonly idempotency: IdempotencyStore;
  readonly retention: Retention;
  readonly erasures: ErasureStore;
  readonly accountRetention: AccountRetention;
  readonly leftovers: Leftovers;
  readonly rates: RateStore;
  readonly secrets: SecretStore;

  /**
   * Runs reads and writes of all stores as one transaction; an error rolls it back.
   *
   * @param work Must be synchronous. Inside another transaction it is a part of that one.
   */
  readonly together: <Result>(work: () => Result) => Result;

  /**
   * Writes a row, for the readiness check.
   *
   * @throws {StoreError} with the reason.
   */
  probe(): void;

  /**
   * Starts the checkpoint thread, which waits for the disk instead of the main thread. To be called once.
   *
   * @returns ends the thread; to be called before `close`, safe to call twice.
   */
  startCheckpoints(): () => Promise<void>;

  /** Safe to call twice. */
  close(): void;
}

/**
 * Opens the store, creates the file when missing, and migrates it to the current schema.
 *
 * @param options.file Path of the SQLite file; its folder is created when missing.
 * @param options.mayMigrate False when a server may be using it: an older schema is refused then.
 * @throws {Error} naming the file and why it cannot be used.
 */
export async function openStore(options: {
  readonly file: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly fileSystemTypeOf?: FileSystemTypeOf;
  readonly mayMigrate?: boolean;
}): Promise<Store> {
  const { database, migrations } = await openDatabase(options);
  if (migrations.length > 0) {
    options.log.info({ file: options.file, migrations }, 'database: migrated to this version');
  }
  return new SqliteStore(database, options);
}

class SqliteStore implements Store {
  readonly accounts: AccountStore;
  readonly apiKeys: ApiKeyStore;
  readonly agents: AgentStore;
  readonly agentVersions: AgentVersionStore;
  readonly numberHolders: NumberHolders;
  readonly numberAssignments: NumberAssignments;
  readonly calls: CallStore;
  readonly qualities: CallQualityStore;
  readonly liveFeed: LiveFeed;
  readonly analyses: AnalysisStore;
  readonly sipTraces: SipTraceStore;
  readonly analytics: AnalyticsStore;
  readonly events: EventStore;
  readonly webhookEndpoints: WebhookEndpointStore;
  readonly deliveries: DeliveryStore;
  readonly outbox: Outbox;
  readonly dialogs: DialogStore;
  readonly idempotency: IdempotencyStore;
  readonly retention: Retention;
  readonly erasures: ErasureStore;
  readonly accountRetention: AccountRetention;
  readonly leftovers: Leftovers;
  readonly rates: SqliteRateStore;
  readonly secrets: SecretStore;
  readonly together: Store['together'];
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  #checkpointer: Checkpointer | undefined;
  #cancelOptimize: () => void = () => undefined;

  constructor(database: Database, parts: { readonly clock: Clock; readonly log: Logger }) {
    this.#database = database;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.accounts = new SqliteAccountStore(database);
    this.apiKeys = new SqliteApiKeyStore(database);
    const versions = new SqliteAgentVersionStore(database);
    this.agentVersions = versions;
    this.numberHolders = new SqliteNumberHolders(database);
    this.numberAssignments = new SqliteNumberAssignments(database);
    this.agents = new SqliteAgentStore(database, versions);
    const events = new SqliteEventStore(database);
    const analyses = new SqliteAnalysisStore(database);
    this.events = events;
    this.analyses = analyses;
    this.analytics = new SqliteAnalyticsStore(database);
    const live = new LiveWatchers();
    this.liveFeed = live;
    this.calls = new SqliteCallStore(database, { events, analyses, live });
    this.qualities = new SqliteCallQualityStore(database);
    this.dialogs = new SqliteDialogStore(database);
    this.idempotency = new SqliteIdempotencyStore(database);
    const { notifier } = events;
    this.webhookEndpoints = new SqliteWebhookEndpointStore(database, notifier);
    this.deliveries = new SqliteDeliveryStore(database, notifier);
    const nowMs = () => parts.clock.now().getTime();
    const newId = idMaker({ nowMs, random: randomBytes });
    this.outbox = new SqliteOutbox(database, { newId, notifier });
    this.sipTraces = new SqliteSipTraceStore(database);
    this.retention = new SqliteRetention(database);
    this.erasures = new SqliteErasureStore(database);
    this.accountRetention = new SqliteAccountRetention(database, this.erasures);
    this.leftovers = new SqliteLeftovers(database, { checkpointer: () => this.#checkpointer });
    this.rates = new SqliteRateStore(database);
    this.secrets = new SqliteSecretStore(database);
    this.together = (work) => database.together(work);
    this.#optimizeLater();
  }

  probe(): void {
    const probed_at = this.#clock.now().getTime();
    this.#database.run(build.replaceInto('probes').values({ id: 1, probed_at }));
  }

  startCheckpoints(): () => Promise<void> {
    const checkpointer = new Checkpointer({ database: this.#database, log: this.#log });
    checkpointer.start();
    this.#checkpointer = checkpointer;
    return () => {
      this.#checkpointer = undefined;
      return checkpointer.stop();
    };
  }

  close(): void {
    this.#cancelOptimize();
    this.liveFeed.close();
    try {
      this.rates.close();
    } catch (error) {
      this.#log.warn({ err: error }, 'database: request counts left as counted in advance');
    }
    this.#database.close();
  }

  #optimizeLater(): void {
    this.#cancelOptimize = this.#clock.after(OPTIMIZE_MS, () => {
      try {
        this.#database.optimize();
      } catch (error) {
        this.#log.warn({ err: error }, 'database: statistics not refreshed');
      }
      this.#optimizeLater();
    });
  }
}
