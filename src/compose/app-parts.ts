/** Composition root: the parts of the server, and how they are made; slow ones begin to load here. */

import { join } from 'node:path';
import type { LiveAdmission } from '../call/admission/live-admission.ts';
import type { InboundRouter } from '../call/inbound-router.ts';
import type { CallParts } from '../call/session/call-parts.ts';
import { CallTracing } from '../call/session/call-tracing.ts';
import type { SipTraceKeeper } from '../call/session/sip-trace-keeper.ts';
import { type Config, databaseFileOf } from '../config/config.ts';
import type { ReadinessReport } from '../domain/call/engine-state.ts';
import { RECORDINGS } from '../domain/call/recording-link.ts';
import type { NumberOwners } from '../domain/dialing/number-owner.ts';
import type { NewId } from '../domain/ids.ts';
import { systemClock } from '../lib/clock.ts';
import { DiskSpace } from '../lib/disk-space.ts';
import type { Logger } from '../lib/logger.ts';
import { Metrics } from '../lib/metrics/metrics.ts';
import { packageVersion } from '../lib/package-version.ts';
import type { FileLock } from '../lib/process/file-lock.ts';
import type { ThreadUse } from '../lib/process/thread-use.ts';
import type { ServerLog } from '../lib/server-log.ts';
import type { Dashboard } from '../operator/dashboard.ts';
import type { Hearing } from '../speech/hearing/hearing.ts';
import { lockDatabase } from '../store/sqlite/sqlite-file.ts';
import { openStore, type Store } from '../store/store.ts';
import type { CustomTools } from '../tool/custom-tools.ts';
import type { McpTools } from '../tool/mcp/mcp-tools.ts';
import type { CallSms } from '../tool/sms/call-sms.ts';
import { makeDataFolders, refuseEmptyDatabase } from './data-folder.ts';
import type { Notice } from './output.ts';
import { composeSpeech, type SpeechParts } from './speech.ts';
import { Telephony } from './telephony.ts';
import type { Knowledge } from './tools/knowledge.ts';

/** Options that `main.ts` sets: settings, log and output. */
export interface AppOptions {
  readonly config: Config;
  readonly log: Logger;
  /** The newest warnings and errors of `log`. */
  readonly serverLog: ServerLog;
  /** Log lines lost since the start; 0 unless given. */
  readonly linesLost?: () => number;
  /** Shows a notice to the operator, at any log level. */
  readonly show: (notice: Notice) => void;
}

/** All parts of `App`. */
export interface AppParts extends AppOptions {
  readonly version: string;
  readonly metrics: Metrics;
  /** The disk of the recordings; not started. */
  readonly disk: DiskSpace;
  readonly lock?: FileLock;
  readonly store: Store;
  readonly speech: SpeechParts;
  readonly telephony: Telephony;
  readonly threads?: ThreadUse;
  readonly tracing?: CallTracing | undefined;
}

/** Parts that the control plane shares with calls. */
export interface ControlPlaneParts extends AppParts {
  readonly newId: NewId;
  readonly dashboard: Dashboard;
  readonly admission: LiveAdmission;
  readonly callParts: CallParts;
  readonly customTools: CustomTools;
  readonly mcpTools: McpTools;
  readonly callSms: CallSms;
  readonly knowledge: Knowledge;
  /** Routes calls from browsers. */
  readonly router: InboundRouter;
  readonly callTraces: SipTraceKeeper;
  readonly numberOwners: NumberOwners;
  readonly recordingSecret: string;
  readonly readiness: () => Promise<ReadinessReport>;
}

/**
 * Makes the parts. Threads and child processes still load when it resolves; no port is open.
 *
 * @param options.hearing already loading; the caller stops it when this fails.
 * @throws {Error} naming what is missing and what to do.
 */
export async function openParts(
  options: AppOptions & { readonly hearing: Hearing; readonly threads: ThreadUse },
): Promise<AppParts> {
  const { config, log, hearing } = options;
  const version = packageVersion();
  const clock = systemClock;
  const telephony = new Telephony({ config, version, clock, log });
  // `App.start` waits for both again, and reports their failures.
  telephony.startMedia().catch(() => undefined);
  const metrics = new Metrics({ version });
  const { modelTimes: times, languageModel: counts, speechServers: servers } = metrics;
  const speech = await composeSpeech({ config, hearing, clock, log, times, counts, servers });
  speech.synthesizer.start().catch(() => undefined);
  try {
    const data = await openData({ config, version, log });
    const folder = join(config.DATA_DIR, RECORDINGS);
    const disk = new DiskSpace({ folder, freeMinMb: config.DISK_FREE_MIN_MB, clock, log });
    return { ...options, version, metrics, disk, speech, telephony, ...data };
  } catch (error) {
    await Promise.allSettled([speech.synthesizer.stop(), telephony.stop()]);
    throw error;
  }
}

/** Opens the data folder and the database. */
async function openData(
  options: Pick<AppParts, 'config' | 'version' | 'log'>,
): Promise<Pick<AppParts, 'lock' | 'store' | 'tracing'>> {
  const { config, log } = options;
  const file = databaseFileOf(config);
  makeDataFolders(config);
  refuseEmptyDatabase(config);
  const lock = lockDatabase(file);
  const store = await openStore({ file, clock: systemClock, log, secretsKey: config.SECRETS_KEY });
  const tracing = await openTracing({ ...options, store });
  return { lock, store, tracing };
}

/** Loads the exporter of traces only where the settings name a collector. */
async function openTracing(
  options: Pick<AppParts, 'config' | 'version' | 'store' | 'log'>,
): Promise<CallTracing | undefined> {
  const { config, version, store, log } = options;
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return undefined;
  const { OtlpSpans, otlpHeaders } = await import('../lib/span-exporter.ts');
  const spans = new OtlpSpans({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    headers: otlpHeaders(config.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    serviceName: config.OTEL_SERVICE_NAME,
    version,
    log,
  });
  return new CallTracing({ spans, calls: store.calls, log });
}
