/** Names, labels and buckets of the metrics of calls, audio, HTTP, webhooks and SIP; and how metrics are made. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

type Labels<Label extends string> = Readonly<Partial<Record<Label, string | number>>>;

/** A value for each set of labels. */
type Read<Label extends string> = () => Iterable<readonly [Labels<Label>, number]>;

/** The families of metrics of a registry. */
export class MetricFamilies {
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  counter<Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ): Counter<Label> {
    return new Counter({ name, help, labelNames: [...labelNames], registers: this.#registers });
  }

  gauge<Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ): Gauge<Label> {
    return new Gauge({ name, help, labelNames: [...labelNames], registers: this.#registers });
  }

  /** @param buckets upper bounds, ascending. */
  histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    return new Histogram({
      name,
      help,
      buckets,
      labelNames: [...labelNames],
      registers: this.#registers,
    });
  }

  /** Adds a counter whose values another part keeps. */
  readCounter<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: Read<Label>,
  ): void {
    new Counter({
      ...{ name, help, labelNames: [...labelNames], registers: this.#registers },
      collect() {
        this.reset();
        for (const [labels, count] of read()) this.inc(labels, count);
      },
    });
  }

  /** Adds a gauge with labels that is read at every scrape. */
  readGauges<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: Read<Label>,
  ): void {
    new Gauge({
      ...{ name, help, labelNames: [...labelNames], registers: this.#registers },
      collect() {
        for (const [labels, value] of read()) this.set(labels, value);
      },
    });
  }

  /**
   * Adds a gauge that is read at every scrape; 0 where `read` gives undefined. Where it fails the last value stays: a
   * database that cannot be read must not take the other figures with it.
   */
  readGauge(
    name: string,
    help: string,
    read: () => number | undefined | Promise<number | undefined>,
  ): void {
    new Gauge({
      ...{ name, help, registers: this.#registers },
      async collect() {
        try {
          this.set((await read()) ?? 0);
        } catch {
          // The reader's owner reports it.
        }
      },
    });
  }
}

/** Counters of a SIP engine since its start. */
export interface MeasuredSip {
  readonly messagesIn: number;
  readonly messagesOut: number;
  /** Part of `messagesIn`. */
  readonly retransmissionsIn: number;
  /** Part of `messagesOut`. */
  readonly retransmissionsOut: number;
  /** Dropped messages by reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Rejected requests by SIP status. */
  readonly rejected: ReadonlyMap<number, number>;
  /** Received responses by SIP status, retransmissions included. */
  readonly responsesIn: ReadonlyMap<number, number>;
  readonly responsesOut: ReadonlyMap<number, number>;
}

/** Calls and their turns. */
export function callMetrics(families: MetricFamilies) {
  return {
    active: families.gauge('offhook_calls_active', 'Calls in progress.', ['direction']),
    started: families.counter('offhook_calls_started_total', 'Calls answered.', ['direction']),
    ended: families.counter('offhook_calls_ended_total', 'Calls ended, answered or not, by why.', [
      'direction',
      'end_reason',
    ]),
    refused: families.counter(
      'offhook_calls_refused_total',
      'Incoming calls turned away, by SIP status.',
      ['status'],
    ),
    shed: families.counter(
      'offhook_calls_shed_total',
      'Incoming calls refused although fewer than MAX_CALLS were in progress, by what was short.',
      ['shortage'],
    ),
    recordingsFailed: families.counter(
      'offhook_recordings_failed_total',
      'Recordings that were cut short or did not begin: the disk is full, or refuses.',
      ['how'],
    ),
    duration: families.histogram(
      'offhook_call_duration_seconds',
      'From answer to end.',
      [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600],
      ['direction'],
    ),
    turnLatency: families.histogram(
      'offhook_turn_latency_seconds',
      "From the caller's last voiced frame to each stage of the reply.",
      [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2, 2, 4, 8],
      ['stage'],
    ),
    bargeIns: families.counter(
      'offhook_barge_in_total',
      'Times that a caller talked over the agent.',
    ),
    speculations: families.counter(
      'offhook_speculations_total',
      "Answers begun before the caller's turn was over, by whether they could be used.",
      ['outcome'],
    ),
    bargeInStop: families.histogram(
      'offhook_barge_in_stop_seconds',
      "From the caller's first voiced frame to the agent's silence.",
      [0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.25, 0.5, 1],
    ),
  };
}

/** RTP. */
export function audioMetrics(families: MetricFamilies) {
  return {
    silent: families.counter(
      'offhook_calls_without_audio_total',
      'Calls ended because no audio came from the caller any more.',
    ),
    packets: families.counter(
      'offhook_rtp_packets_total',
      'RTP packets of calls that are over, by what became of them.',
      ['direction', 'result'],
    ),
    jitter: families.histogram(
      'offhook_rtp_jitter_seconds',
      'Jitter of the packets that came in, when their call was over. RFC 3550, 6.4.1.',
      [0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16],
    ),
  };
}

/** The REST interface. */
export function httpMetrics(families: MetricFamilies) {
  return {
    duration: families.histogram(
      'offhook_http_request_duration_seconds',
      'From the request to its answer.',
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      ['route', 'method'],
    ),
    requests: families.counter('offhook_http_requests_total', 'Requests answered, by status.', [
      'route',
      'method',
      'status',
    ]),
    rateLimited: families.counter(
      'offhook_rate_limited_total',
      'Requests refused because the hour was used up.',
    ),
    auditFailed: families.counter(
      'offhook_audit_entries_lost_total',
      'Changes that were made and could not be written to the audit log.',
    ),
  };
}

/** Deliveries that are pending in the outbox now. */
interface MeasuredOutbox {
  readonly pending: number;
  /** Age of the oldest; 0 when there is none. */
  readonly oldestSeconds: number;
}

/** Metrics of webhook attempts; `result` is one of ok, http, timeout, network, refused. */
export function webhookMetrics(families: MetricFamilies) {
  const attempts = families.counter(
    'offhook_webhook_attempts_total',
    'Attempts to deliver a webhook, by what came of them.',
    ['result'],
  );
  for (const result of ['ok', 'http', 'timeout', 'network', 'refused']) attempts.inc({ result }, 0);
  const seconds = families.histogram(
    'offhook_webhook_attempt_seconds',
    'From the beginning of an attempt to its answer, or to giving up.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  );
  return {
    attempted: (result: string, tookMs: number): void => {
      attempts.inc({ result });
      seconds.observe(tookMs / 1000);
    },
    /** Adds the two gauges of pending deliveries, read at every scrape; `read` may fail. Call it once. */
    watchOutbox: (read: () => Promise<MeasuredOutbox>): void => {
      families.readGauge(
        'offhook_webhook_outbox_pending',
        'Deliveries that are not over.',
        async () => (await read()).pending,
      );
      families.readGauge(
        'offhook_webhook_outbox_oldest_seconds',
        'Age of the oldest delivery that is not over; of the first 100,000 where there are more.',
        async () => (await read()).oldestSeconds,
      );
    },
  };
}

/** Numbers of live campaigns whose turn came; `result` is `called` (a call joined the queue) or `refused` (by the dial policy). */
export function campaignMetrics(families: MetricFamilies) {
  const contacts = families.counter(
    'offhook_campaign_contacts_total',
    'Numbers of campaigns whose turn came, by whether they may be called.',
    ['result'],
  );
  for (const result of ['called', 'refused']) contacts.inc({ result }, 0);
  return { reached: (result: 'called' | 'refused'): void => contacts.inc({ result }) };
}

/** SIP: the engine counts for itself, `read` takes its numbers at every scrape. */
export function addSipMetrics(families: MetricFamilies, read: () => MeasuredSip): void {
  const bothWays = (incoming: number, outgoing: number) =>
    [
      [{ direction: 'in' }, incoming],
      [{ direction: 'out' }, outgoing],
    ] as const;
  families.readCounter('offhook_sip_messages_total', 'SIP messages.', ['direction'], () =>
    bothWays(read().messagesIn, read().messagesOut),
  );
  families.readCounter(
    'offhook_sip_retransmissions_total',
    'Messages that came or went again.',
    ['direction'],
    () => bothWays(read().retransmissionsIn, read().retransmissionsOut),
  );
  families.readCounter(
    'offhook_sip_responses_total',
    'SIP responses that came and went, by status.',
    ['direction', 'status'],
    () => [
      ...[...read().responsesIn].map(
        ([status, count]) => [{ direction: 'in', status }, count] as const,
      ),
      ...[...read().responsesOut].map(
        ([status, count]) => [{ direction: 'out', status }, count] as const,
      ),
    ],
  );
  families.readCounter(
    'offhook_sip_dropped_total',
    'SIP messages thrown away unanswered.',
    ['reason'],
    () => Object.entries(read().dropped).map(([reason, count]) => [{ reason }, count]),
  );
  families.readCounter(
    'offhook_sip_rejected_total',
    'SIP requests refused before call control saw them.',
    ['status'],
    () => [...read().rejected].map(([status, count]) => [{ status }, count]),
  );
}
