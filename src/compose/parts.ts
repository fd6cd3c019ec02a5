/** Composition root: the server's parts; slow ones begin to load here. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallTracing } from '../call/session/call-tracing.ts';
import { type Config, databaseFileOf } from '../config/config.ts';
import { RECORDINGS } from '../domain/call/recording-link.ts';
import { systemClock } from '../lib/clock.ts';
import { DiskSpace } from '../lib/disk-space.ts';
import type { Logger } from '../lib/logger.ts';
import { Metrics } from '../lib/metrics/metrics.ts';
import type { FileLock } from '../lib/process/file-lock.ts';
import type { ThreadUse } from '../lib/process/thread-use.ts';
import type { Hearing } from '../speech/hearing/hearing.ts';
import { lockDatabase } from '../store/sqlite/database-lock.ts';
import { openStore, type Store } from '../store/store.ts';
import { makeDataFolders, refuseEmptyDatabase } from './data-folder.ts';
import { composeSpeech, type SpeechParts } from './speech.ts';
import type { Notice } from './startup-banner.ts';
import { Telephony } from './telephony.ts';

/** What `main.ts` brings. */
export interface AppOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Log lines lost since the start; 0 unless given. */
  readonly linesLost?: () => number;
  /** Shows a notice to the operator, whatever the log level is. */
  readonly show: (notice: Notice) => void;
}

/** Everything that `App` is made of. */
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

const PACKAGE = new URL('../../package.json', import.meta.url);

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
  const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8'));
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
async function openData(options: {
  readonly config: Config;
  readonly version: string;
  readonly log: Logger;
}): Promise<Pick<AppParts, 'lock' | 'store' | 'tracing'>> {
  const { config, log } = options;
  const file = databaseFileOf(config);
  makeDataFolders(config);
  refuseEmptyDatabase(config);
  const lock = lockDatabase(file);
  const store = await openStore({ file, clock: systemClock, log });
  const tracing = await openTracing({ ...options, store });
  return { lock, store, tracing };
}

/** Loads the exporter of traces only where the settings name a collector. */
async function openTracing(options: {
  readonly config: Config;
  readonly version: string;
  readonly store: Pick<Store, 'calls'>;
  readonly log: Logger;
}): Promise<CallTracing | undefined> {
  const { config, version, store, log } = options;
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return undefined;
  const { OtlpSpans, otlpHeaders } = await import('../lib/span-exporter.ts');
  const { CallTracing } = await import('../call/session/call-tracing.ts');
  const spans = new OtlpSpans({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    headers: otlpHeaders(config.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    serviceName: config.OTEL_SERVICE_NAME,
    version,
    log,
  });
  return new CallTracing({ spans, calls: store.calls, log });
}
