/** What the server counts and measures, for Prometheus to scrape. No label holds a number, a name or an id. */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { EventLoopLag } from './event-loop-lag.ts';
import { callMetrics, httpMetrics, networkMetrics } from './metric-families.ts';

/** Where the time of one turn went, in milliseconds; what did not happen is left out. */
export interface MeasuredTurn {
  readonly endOfTurnMs?: number;
  readonly textFinalMs?: number;
  readonly firstTokenMs?: number;
  readonly firstClauseMs?: number;
  readonly firstAudioMs?: number;
  readonly firstPacketMs?: number;
  readonly bargeInMs?: number;
}

const STAGES = {
  endOfTurnMs: 'end_of_turn',
  textFinalMs: 'text_final',
  firstTokenMs: 'first_token',
  firstClauseMs: 'first_clause',
  firstAudioMs: 'first_audio',
  firstPacketMs: 'first_packet',
} as const satisfies Partial<Record<keyof MeasuredTurn, string>>;

const SIP_METHODS = new Set(
  'INVITE ACK BYE CANCEL OPTIONS REGISTER INFO PRACK UPDATE REFER NOTIFY MESSAGE SUBSCRIBE'.split(
    ' ',
  ),
);

const HTTP_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The server's metrics; made once, in the composition root. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #calls = callMetrics(this.#registry);
  readonly #network = networkMetrics(this.#registry);
  readonly #http = httpMetrics(this.#registry);
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

  /** A call that was turned away with this SIP status before it became one. */
  callRefused(sipStatus: number): void {
    this.#calls.refused.inc({ status: sipStatus });
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

  /** A SIP request that was answered. Methods we don't speak are counted as `other`. */
  sipRequest(method: string, status: number): void {
    this.#network.sipRequests.inc({ method: SIP_METHODS.has(method) ? method : 'other', status });
  }

  /** A SIP message that was dropped or refused before any call control saw it. */
  sipRejected(reason: 'parse' | 'scanner' | 'source' | 'overload'): void {
    this.#network.sipRejected.inc({ reason });
  }

  rtpPackets(
    direction: 'in' | 'out',
    result: 'ok' | 'late' | 'lost' | 'rejected',
    packets: number,
  ): void {
    this.#network.rtpPackets.inc({ direction, result }, packets);
  }

  /** @param request.route The pattern, such as `/api/calls/{callId}`, never the path with its ids. */
  httpRequest(request: {
    readonly route: string;
    readonly method: string;
    readonly status: number;
    readonly durationMs: number;
  }): void {
    const method = HTTP_METHODS.has(request.method) ? request.method : 'other';
    this.#http.duration.observe(
      { route: request.route, method, status: request.status },
      request.durationMs / 1000,
    );
  }

  rateLimited(): void {
    this.#http.rateLimited.inc();
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
