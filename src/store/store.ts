/** All stores of the domain, in one SQLite file. */
import { randomBytes } from 'node:crypto';
import type { RateStore } from '../domain/account/rate-limit.ts';
import type { LiveFeed } from '../domain/call/live-sound.ts';
import { idMaker } from '../domain/ids.ts';
import type { RunTransaction, Stores } from '../domain/stores.ts';
import { type Clock, DAY_MS } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { SecretBox } from '../lib/secrets.ts';
import { SqliteAccountStore, SqliteApiKeyStore } from './accounts/sqlite-account-store.ts';
import { SqliteErasureStore, SqliteLeftovers } from './accounts/sqlite-erasure-store.ts';
import { SqliteAccountRetention, SqliteRetention } from './accounts/sqlite-retention.ts';
import { SqliteAuditLog, SqliteUserStore } from './accounts/sqlite-user-store.ts';
import { indexRegularly } from './calls/call-list.ts';
import { SqliteAnalysisStore } from './calls/sqlite-analysis-store.ts';
import { SqliteAnalyticsStore, SqliteQuarterHours } from './calls/sqlite-analytics-store.ts';
import {
  SqliteCallNoteStore,
  SqliteCallQualityStore,
  SqliteSipTraceStore,
} from './calls/sqlite-call-diagnostics.ts';
import { SqliteCallStore, SqliteDialogStore } from './calls/sqlite-call-store.ts';
import { SqliteKnowledgeStore } from './knowledge/sqlite-knowledge-store.ts';
import type { Queries } from './queries.ts';
import { Checkpointer } from './sqlite/checkpointer.ts';
import { type Database, openDatabase } from './sqlite/database.ts';
import { build } from './sqlite/schema.ts';
import { openBox, sealAgain } from './sqlite/sealed-columns.ts';
import type { FileSystemTypeOf } from './sqlite/sqlite-file.ts';
import {
  SqliteIdempotencyStore,
  SqliteRateStore,
  SqliteSecretStore,
} from './sqlite/sqlite-server-state.ts';
import {
  SqliteAgentStore,
  SqliteAgentVersionStore,
  SqliteSavedDraftStore,
} from './sqlite-agent-store.ts';
import { SqliteAppointmentStore, SqliteCalendarStore } from './sqlite-calendar-store.ts';
import { SqliteCampaignStore } from './sqlite-campaign-store.ts';
import {
  SqliteOptOutStore,
  SqliteSmsGatewayStore,
  SqliteSmsMessageStore,
} from './sqlite-sms-stores.ts';
import { SqliteCustomToolStore, SqliteMcpServerStore } from './sqlite-tool-stores.ts';
import {
  SqliteNumberAssignments,
  SqliteNumberHolders,
  SqliteStoredTrunks,
} from './sqlite-trunk-stores.ts';
import { newStoreFeeds, type StoreFeeds } from './store-feeds.ts';
import { SqliteDeliveryStore } from './webhooks/sqlite-delivery-store.ts';
import { SqliteOutbox } from './webhooks/sqlite-outbox.ts';
import { SqliteEventStore, SqliteWebhookEndpointStore } from './webhooks/sqlite-webhook-stores.ts';

const OPTIMIZE_MS = DAY_MS;

/** All stores. Every method is one transaction, and rejects with `StoreError` when disk or file fail. */
export interface Store extends Stores {
  /** Changes of calls as they are written. */
  readonly liveFeed: LiveFeed;
  readonly retention: SqliteRetention;
  readonly accountRetention: SqliteAccountRetention;
  readonly leftovers: SqliteLeftovers;
  readonly rates: RateStore;

  readonly transaction: RunTransaction;

  /**
   * Writes a row, for the readiness check.
   *
   * @throws {StoreError} with the reason.
   */
  probe(): Promise<void>;

  /**
   * Starts the checkpoint thread, which waits for the disk instead of the main thread. To be called once.
   *
   * @returns ends the thread; to be called before `close`, safe to call twice.
   */
  startCheckpoints(): () => Promise<void>;

  /** Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Opens the store, creates the file when missing, and migrates it to the current schema.
 *
 * @param options.file Path of the SQLite file; its folder is created when missing.
 * @param options.mayMigrate False when a server may be using it: an older schema is refused then.
 * @param options.secretsKey `SECRETS_KEY`; without it, `secrets.key` next to the database has the key.
 * @throws {Error} naming the file and why it cannot be used, or the secret that no key opens.
 */
export async function openStore(options: {
  readonly file: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly fileSystemTypeOf?: FileSystemTypeOf;
  readonly mayMigrate?: boolean;
  readonly secretsKey?: string | undefined;
}): Promise<Store> {
  const { file, log, mayMigrate = true } = options;
  const { database, migrations } = await openDatabase(options);
  try {
    const box = openBox(file, options.secretsKey);
    if (mayMigrate) await sealAgain(database, box, { forget: false });
    if (migrations.length > 0) log.info({ file, migrations }, 'database: migrated to this version');
    return storeOn(database, { ...options, box });
  } catch (error) {
    database.close();
    throw error;
  }
}

function storeOn(
  database: Database,
  { clock, log, box }: { readonly clock: Clock; readonly log: Logger; readonly box: SecretBox },
): Store {
  const feeds = newStoreFeeds();
  const stores = sqliteStores(database, { feeds, clock, box });
  feeds.live.connect((callId) => stores.calls.findById(callId));
  const rates = new SqliteRateStore(database);
  let checkpointer: Checkpointer | undefined;
  const cancelOptimize = optimizeDaily(database, { clock, log });
  const stopIndex = indexRegularly(database, { clock, log });
  return {
    ...stores,
    liveFeed: feeds.live,
    retention: new SqliteRetention(database),
    accountRetention: new SqliteAccountRetention(database, feeds.erasures),
    leftovers: new SqliteLeftovers(database, () => checkpointer),
    rates,
    transaction: (work) =>
      database.transaction((transaction) => work(sqliteStores(transaction, { feeds, clock, box }))),
    probe: async () => {
      const probed_at = clock.now().getTime();
      await database.run(build.replaceInto('probes').values({ id: 1, probed_at }));
    },
    startCheckpoints: () => {
      const started = new Checkpointer({ database, log });
      started.start();
      checkpointer = started;
      return () => {
        checkpointer = undefined;
        return started.stop();
      };
    },
    close: async () => {
      cancelOptimize();
      feeds.live.close();
      await stopIndex();
      try {
        await rates.close();
      } catch (error) {
        log.warn({ err: error }, 'database: request counts left as counted in advance');
      }
      database.close();
    },
  };
}

function sqliteStores(
  database: Queries,
  parts: { readonly feeds: StoreFeeds; readonly clock: Clock; readonly box: SecretBox },
): Stores {
  const { feeds, clock, box } = parts;
  const newId = idMaker({ nowMs: () => clock.now().getTime(), random: randomBytes });
  return {
    accounts: new SqliteAccountStore(database),
    apiKeys: new SqliteApiKeyStore(database),
    agents: new SqliteAgentStore(database),
    agentVersions: new SqliteAgentVersionStore(database),
    agentDrafts: new SqliteSavedDraftStore(database),
    customTools: new SqliteCustomToolStore(database, box),
    mcpServers: new SqliteMcpServerStore(database, box),
    knowledge: new SqliteKnowledgeStore(database),
    smsGateways: new SqliteSmsGatewayStore(database, box),
    smsMessages: new SqliteSmsMessageStore(database),
    smsOptOuts: new SqliteOptOutStore(database),
    calendars: new SqliteCalendarStore(database, box),
    appointments: new SqliteAppointmentStore(database),
    numberHolders: new SqliteNumberHolders(database),
    numberAssignments: new SqliteNumberAssignments(database),
    storedTrunks: new SqliteStoredTrunks(database, box),
    calls: new SqliteCallStore(database, feeds),
    campaigns: new SqliteCampaignStore(database, feeds.campaigns),
    callNotes: new SqliteCallNoteStore(database),
    qualities: new SqliteCallQualityStore(database),
    analyses: new SqliteAnalysisStore(database, feeds),
    sipTraces: new SqliteSipTraceStore(database),
    analytics: new SqliteAnalyticsStore(database),
    quarterHours: new SqliteQuarterHours(database),
    events: new SqliteEventStore(database, feeds.events),
    webhookEndpoints: new SqliteWebhookEndpointStore(database, feeds.events),
    deliveries: new SqliteDeliveryStore(database, feeds.events),
    outbox: new SqliteOutbox(database, { newId, notifier: feeds.events }),
    dialogs: new SqliteDialogStore(database),
    idempotency: new SqliteIdempotencyStore(database),
    erasures: new SqliteErasureStore(database, feeds.erasures),
    secrets: new SqliteSecretStore(database),
    users: new SqliteUserStore(database),
    auditLog: new SqliteAuditLog(database),
  };
}

/** Refreshes the statistics of the query planner. @returns ends it. */
function optimizeDaily(
  database: Database,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): () => void {
  const optimize = () => {
    database.optimize().catch((error: unknown) => {
      log.warn({ err: error }, 'database: statistics not refreshed');
    });
    cancel = clock.after(OPTIMIZE_MS, optimize);
  };
  let cancel = clock.after(OPTIMIZE_MS, optimize);
  return () => cancel();
}
