/** What the server counts and measures, for Prometheus to scrape. No label holds a number, a name or an id. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { systemClock } from '../clock.ts';
import { EventLoopLag } from '../process/thread-use.ts';
import {
  AdmissionMetrics,
  addAskedGauge,
  addSipMetrics,
  audioMetrics,
  callMetrics,
  httpMetrics,
  type MeasuredSip,
  RecordingMetrics,
  webhookMetrics,
} from './metric-families.ts';
import {
  AnalysisMetrics,
  languageModelMetrics,
  modelMetrics,
  speechServerMetrics,
} from './model-metrics.ts';
import { RecentTimes } from './recent-times.ts';

/** Where the time of one turn went, in milliseconds; what did not happen is left out. */
export interface MeasuredTurn {
  readonly endOfTurnMs?: number;
  readonly textFinalMs?: number;
  readonly turnScoredMs?: number;
  readonly firstTokenMs?: number;
  readonly firstClauseMs?: number;
  readonly firstAudioMs?: number;
  readonly firstPacketMs?: number;
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

const STAGES = {
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
  readonly #calls = callMetrics(this.#registry);
  readonly #audio = audioMetrics(this.#registry);
  readonly #http = httpMetrics(this.#registry);
  readonly modelTimes = new RecentTimes({
    times: modelMetrics(this.#registry),
    clock: systemClock,
  });
  readonly languageModel = languageModelMetrics(this.#registry);
  readonly speechServers = speechServerMetrics(this.#registry);
  readonly admission = new AdmissionMetrics(this.#registry);
  readonly analysis = new AnalysisMetrics(this.#registry);
  readonly recordings = new RecordingMetrics(this.#registry);
  readonly webhooks = webhookMetrics(this.#registry);
  readonly #loopLag = new EventLoopLag();
  #isStarted = false;

  constructor(options: { readonly version: string }) {
    const labelNames = ['version', 'node_version'] as const;
    new Gauge({
      name: 'offhook_build_info',
      help: 'Which version runs; always 1.',
      labelNames,
      registers: [this.#registry],
    }).set({ version: options.version, node_version: process.version }, 1);
    for (const direction of ['inbound', 'outbound']) this.#calls.active.set({ direction }, 0);
    this.#addLoopLag();
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

  /** The media type of `render`'s text. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** A call was answered. */
  callStarted(direction: 'inbound' | 'outbound'): void {
    this.#calls.started.inc({ direction });
    this.#calls.active.inc({ direction });
  }

  /** Only for calls that `callStarted` was called for. */
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
    this.recordings.failed(how);
  }

  turn(times: MeasuredTurn): void {
    for (const [name, stage] of Object.entries(STAGES) as [keyof typeof STAGES, string][]) {
      const ms = times[name];
      if (ms !== undefined) this.#calls.turnLatency.observe({ stage }, ms / 1000);
    }
    if (times.bargeInMs !== undefined) this.#calls.bargeInStop.observe(times.bargeInMs / 1000);
  }

  bargeIn(): void {
    this.#calls.bargeIns.inc();
  }

  /** What became of an answer that was begun before the caller's turn was over. */
  speculation(outcome: 'hit' | 'miss'): void {
    this.#calls.speculations.inc({ outcome });
  }

  /** Adds what the SIP engine counts, read at every scrape. Once. */
  watchSip(read: () => MeasuredSip): void {
    addSipMetrics(this.#registry, read);
  }

  /** Adds how many calls wait to be placed, asked at every scrape; `read` may fail. Once. */
  watchQueue(read: () => Promise<number>): void {
    addAskedGauge(this.#registry, {
      name: 'offhook_calls_queued',
      help: 'Calls that wait to be placed.',
      read,
    });
  }

  /** Adds how many lines of the log were lost since the start, read at every scrape. Once. */
  watchLog(read: () => number): void {
    new Counter({
      name: 'offhook_log_lines_lost_total',
      help: 'Lines of the log that were lost because standard output could not be written.',
      registers: [this.#registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
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

  rateLimited(): void {
    this.#http.rateLimited.inc();
  }

  /** Adds the number of trunks in each state, read at every scrape. Once. */
  watchTrunks(read: () => readonly { readonly state: TrunkStateName }[]): void {
    new Gauge({
      name: 'offhook_trunks',
      help: 'SIP trunks, by state; calls that go out through a failed one wait.',
      labelNames: ['state'],
      registers: [this.#registry],
      collect() {
        const trunks = read();
        for (const state of TRUNK_STATES) {
          this.set({ state }, trunks.filter((trunk) => trunk.state === state).length);
        }
      },
    });
  }

  #addLoopLag(): void {
    const loopLag = this.#loopLag;
    new Gauge({
      name: 'offhook_event_loop_lag_seconds',
      help: 'How late the event loop was since the last scrape, 99th percentile.',
      registers: [this.#registry],
      collect() {
        this.set(loopLag.takeSeconds());
      },
    });
  }
}
