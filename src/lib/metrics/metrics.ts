/** Metrics of the server, for Prometheus to scrape. No label holds a number, a name or an id. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import { systemClock } from '../clock.ts';
import type { DiskSpace } from '../disk-space.ts';
import { EventLoopLag } from '../process/thread-use.ts';
import {
  addSipMetrics,
  audioMetrics,
  callMetrics,
  campaignMetrics,
  httpMetrics,
  type MeasuredSip,
  MetricFamilies,
  webhookMetrics,
} from './metric-families.ts';
import {
  analysisMetrics,
  knowledgeMetrics,
  languageModelMetrics,
  modelMetrics,
  RecentTimes,
  speechServerMetrics,
} from './model-metrics.ts';

/** Times of one turn, in milliseconds after the caller's last voiced frame; steps that did not happen are left out. */
export interface MeasuredTurn {
  readonly endOfTurnMs?: number;
  readonly textFinalMs?: number;
  /** When the turn model had scored the pause that ended the turn. */
  readonly turnScoredMs?: number;
  readonly firstTokenMs?: number;
  readonly firstClauseMs?: number;
  readonly firstAudioMs?: number;
  readonly firstPacketMs?: number;
  /** How long after the caller's first voiced frame the agent fell silent, when this turn interrupted it. */
  readonly bargeInMs?: number;
}

/** RTP packets of one call. */
export interface MeasuredAudio {
  readonly packetsReceived: number;
  readonly packetsSent: number;
  readonly packetsLost: number;
  /** From strangers: dropped. */
  readonly packetsRejected: number;
  readonly jitterMs: number;
  /** Undefined where no packets flow. */
  readonly details?: { readonly packetsUnsent: number } | undefined;
}

/** One family of metrics, as the reference describes it. */
interface MetricFamily {
  readonly name: string;
  readonly help: string;
  /** `counter`, `gauge` or `histogram`. */
  readonly type: string;
  readonly labels: readonly string[];
}

/** Headroom of the machine, as admission measures it. */
interface MeasuredAdmission {
  readonly callsLeft: number;
  /** Each figure over its limit, by name. */
  readonly loads: Readonly<Record<string, number>>;
}

/** The stages of a turn as labels of its metric, by the name of their time. */
export const TURN_STAGES = {
  endOfTurnMs: 'end_of_turn',
  textFinalMs: 'text_final',
  turnScoredMs: 'turn_scored',
  firstTokenMs: 'first_token',
  firstClauseMs: 'first_clause',
  firstAudioMs: 'first_audio',
  firstPacketMs: 'first_packet',
} as const satisfies Partial<Record<keyof MeasuredTurn, string>>;

const TRUNK_STATES = ['ready', 'registering', 'failed', 'unregistered'] as const;

type TrunkStateName = (typeof TRUNK_STATES)[number];

const HTTP_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The server's metrics; made once, in the composition root. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #families = new MetricFamilies(this.#registry);
  readonly #calls = callMetrics(this.#families);
  readonly #audio = audioMetrics(this.#families);
  readonly #http = httpMetrics(this.#families);
  readonly modelTimes = new RecentTimes({
    times: modelMetrics(this.#families),
    clock: systemClock,
  });
  readonly languageModel = languageModelMetrics(this.#families);
  readonly knowledge = knowledgeMetrics(this.#families);
  readonly speechServers = speechServerMetrics(this.#families);
  readonly analysis = analysisMetrics(this.#families);
  readonly webhooks = webhookMetrics(this.#families);
  readonly campaigns = campaignMetrics(this.#families);
  readonly #loopLag = new EventLoopLag();
  #isStarted = false;

  constructor(options: { readonly version: string }) {
    this.#families
      .gauge('offhook_build_info', 'Which version runs; always 1.', ['version', 'node_version'])
      .set({ version: options.version, node_version: process.version }, 1);
    for (const direction of ['inbound', 'outbound']) this.#calls.active.set({ direction }, 0);
    this.#families.readGauge(
      'offhook_event_loop_lag_seconds',
      'How late the event loop was since the last scrape, 99th percentile.',
      () => this.#loopLag.takeSeconds(),
    );
  }

  /** Starts measuring the process itself: memory, CPU, event loop. Safe to call twice. */
  start(): void {
    this.#loopLag.start();
    if (!this.#isStarted) collectDefaultMetrics({ register: this.#registry });
    this.#isStarted = true;
  }

  /** Safe to call twice. */
  stop(): void {
    this.#loopLag.stop();
  }

  /** All metrics in Prometheus' text format. */
  render(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Name, help, type and labels of every family added so far, without their values. */
  get families(): readonly MetricFamily[] {
    return this.#registry.getMetricsAsArray().map((family) => {
      const { name, help, type } = family;
      return { name, help, type: String(type), labels: labelsOf(family) };
    });
  }

  /** The media type of `render`'s text. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** A call was answered. */
  callStarted(direction: 'inbound' | 'outbound'): void {
    this.#calls.started.inc({ direction });
    this.#calls.active.inc({ direction });
  }

  /** A call that `callStarted` counted has ended. */
  callEnded(direction: 'inbound' | 'outbound', endReason: string, durationSeconds: number): void {
    this.#calls.active.dec({ direction });
    this.#calls.ended.inc({ direction, end_reason: endReason });
    this.#calls.duration.observe({ direction }, durationSeconds);
  }

  /** A call that rang and ended without an answer. */
  callMissed(direction: 'inbound' | 'outbound', endReason: string): void {
    this.#calls.ended.inc({ direction, end_reason: endReason });
  }

  /** A call that ended because no audio came from the caller any more. */
  silentLine(): void {
    this.#audio.silent.inc();
  }

  /** A call that was turned away with this SIP status before it became one. */
  callRefused(sipStatus: number): void {
    this.#calls.refused.inc({ status: sipStatus });
  }

  /** A recording was cut short, or did not begin. */
  recordingFailed(how: 'cut_short' | 'not_begun'): void {
    this.#calls.recordingsFailed.inc({ how });
  }

  /** A call was refused to spare the others. */
  callShed(shortage: string): void {
    this.#calls.shed.inc({ shortage });
  }

  turn(times: MeasuredTurn): void {
    for (const [name, stage] of Object.entries(TURN_STAGES) as [
      keyof typeof TURN_STAGES,
      string,
    ][]) {
      const ms = times[name];
      if (ms !== undefined) this.#calls.turnLatency.observe({ stage }, ms / 1000);
    }
    if (times.bargeInMs !== undefined) this.#calls.bargeInStop.observe(times.bargeInMs / 1000);
  }

  bargeIn(): void {
    this.#calls.bargeIns.inc();
  }

  /** Counts an answer that was begun before the caller's turn was over: used or discarded. */
  speculation(outcome: 'hit' | 'miss'): void {
    this.#calls.speculations.inc({ outcome });
  }

  /** The sound of one call, when it is over. */
  audio(packets: MeasuredAudio): void {
    this.#audio.packets.inc({ direction: 'in', result: 'ok' }, packets.packetsReceived);
    this.#audio.packets.inc({ direction: 'in', result: 'lost' }, packets.packetsLost);
    this.#audio.packets.inc({ direction: 'in', result: 'rejected' }, packets.packetsRejected);
    this.#audio.packets.inc({ direction: 'out', result: 'ok' }, packets.packetsSent);
    const { packetsUnsent = 0 } = packets.details ?? {};
    this.#audio.packets.inc({ direction: 'out', result: 'unsent' }, packetsUnsent);
    this.#audio.jitter.observe(packets.jitterMs / 1000);
  }

  /** @param request.route The pattern, such as `/api/calls/{callId}`, never the path with its ids. */
  httpRequest(request: {
    readonly route: string;
    readonly method: string;
    readonly status: number;
    readonly durationMs: number;
  }): void {
    const method = HTTP_METHODS.has(request.method) ? request.method : 'other';
    const { route, status, durationMs } = request;
    this.#http.requests.inc({ route, method, status });
    this.#http.duration.observe({ route, method }, durationMs / 1000);
  }

  auditFailed(): void {
    this.#http.auditFailed.inc();
  }

  rateLimited(): void {
    this.#http.rateLimited.inc();
  }

  /** Adds the counts of the SIP engine, read at every scrape. Call it once. */
  watchSip(read: () => MeasuredSip): void {
    addSipMetrics(this.#families, read);
  }

  /** Adds the requests of hosts that no trunk knows, by the network of their source, read at every scrape. Once. */
  watchStrangers(read: () => Readonly<Record<string, number>>): void {
    this.#families.readCounter(
      'offhook_sip_strangers_total',
      'SIP requests from hosts that no trunk allows, ignored or refused, by network.',
      ['network'],
      () => Object.entries(read()).map(([network, count]) => [{ network }, count]),
    );
  }

  /** Adds how many calls wait to be placed, asked at every scrape; `read` may fail. Once. */
  watchQueue(read: () => Promise<number>): void {
    this.#families.readGauge('offhook_calls_queued', 'Calls that wait to be placed.', read);
  }

  /** Adds how many lines of the log were lost since the start, read at every scrape. Once. */
  watchLog(read: () => number): void {
    this.#families.readCounter(
      'offhook_log_lines_lost_total',
      'Lines of the log that were lost because standard output could not be written.',
      [],
      () => [[{}, read()]],
    );
  }

  /** Adds the number of trunks in each state, read at every scrape. Once. */
  watchTrunks(read: () => readonly { readonly state: TrunkStateName }[]): void {
    this.#families.readGauges(
      'offhook_trunks',
      'SIP trunks, by state; calls that go out through a failed one wait.',
      ['state'],
      () => {
        const trunks = read();
        return TRUNK_STATES.map((state) => {
          return [{ state }, trunks.filter((trunk) => trunk.state === state).length];
        });
      },
    );
  }

  /** Adds the expiry of the certificate of SIP over TLS, read at every scrape; no sample without one. Once. */
  watchCertificate(read: () => Date | undefined): void {
    this.#families.readGauges(
      'offhook_sip_tls_certificate_expiry_timestamp_seconds',
      'When the certificate of SIP over TLS expires, in seconds since 1970.',
      [],
      () =>
        [read()].flatMap((at) => (at === undefined ? [] : [[{}, at.getTime() / 1000] as const])),
    );
  }

  /** Adds the free space of the recordings' disk, read at every scrape, and its bound. Once. */
  watchDisk(disk: Pick<DiskSpace, 'freeBytes' | 'freeMinBytes'>): void {
    this.#families.readGauge(
      'offhook_disk_free_bytes',
      'Free space on the disk of the recordings.',
      () => disk.freeBytes,
    );
    this.#families
      .gauge(
        'offhook_disk_free_min_bytes',
        'Free space below which no recording begins: DISK_FREE_MIN_MB.',
      )
      .set(disk.freeMinBytes);
  }

  /** Adds room and load, read at every scrape. Once. */
  watchAdmission(read: () => MeasuredAdmission | undefined): void {
    this.#families.readGauge(
      'offhook_calls_room',
      'About how many more calls the server would take now.',
      () => read()?.callsLeft,
    );
    this.#families.readGauges(
      'offhook_load_ratio',
      'What is measured over the limit from which on new calls are refused.',
      ['shortage'],
      () => Object.entries(read()?.loads ?? {}).map(([shortage, load]) => [{ shortage }, load]),
    );
  }
}

/** The types of prom-client leave the names of labels out. */
function labelsOf(family: object): readonly string[] {
  return 'labelNames' in family && Array.isArray(family.labelNames)
    ? family.labelNames.map(String)
    : [];
}
