/** The names, labels and buckets of what is counted and measured. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** What a SIP engine has counted since its start. */
export interface MeasuredSip {
  readonly messagesIn: number;
  readonly messagesOut: number;
  /** Part of `messagesIn`. */
  readonly retransmissionsIn: number;
  /** Part of `messagesOut`. */
  readonly retransmissionsOut: number;
  /** By reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** By SIP status. */
  readonly rejected: ReadonlyMap<number, number>;
  /** By SIP status, repeats among them. */
  readonly responsesIn: ReadonlyMap<number, number>;
  readonly responsesOut: ReadonlyMap<number, number>;
}

/** Calls and their turns. */
export function callMetrics(registry: Registry) {
  const registers = [registry];
  return {
    active: new Gauge({
      name: 'offhook_calls_active',
      help: 'Calls in progress.',
      labelNames: ['direction'],
      registers,
    }),
    started: new Counter({
      name: 'offhook_calls_started_total',
      help: 'Calls answered.',
      labelNames: ['direction'],
      registers,
    }),
    ended: new Counter({
      name: 'offhook_calls_ended_total',
      help: 'Calls ended, answered or not, by why.',
      labelNames: ['direction', 'end_reason'],
      registers,
    }),
    refused: new Counter({
      name: 'offhook_calls_refused_total',
      help: 'Incoming calls turned away, by SIP status.',
      labelNames: ['status'],
      registers,
    }),
    duration: new Histogram({
      name: 'offhook_call_duration_seconds',
      help: 'From answer to end.',
      labelNames: ['direction'],
      buckets: [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600],
      registers,
    }),
    turnLatency: new Histogram({
      name: 'offhook_turn_latency_seconds',
      help: "From the caller's last voiced frame to each stage of the reply.",
      labelNames: ['stage'],
      buckets: [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2, 2, 4, 8],
      registers,
    }),
    bargeIns: new Counter({
      name: 'offhook_barge_in_total',
      help: 'Times that a caller talked over the agent.',
      registers,
    }),
    speculations: new Counter({
      name: 'offhook_speculations_total',
      help: "Answers begun before the caller's turn was over, by whether they could be used.",
      labelNames: ['outcome'],
      registers,
    }),
    bargeInStop: new Histogram({
      name: 'offhook_barge_in_stop_seconds',
      help: "From the caller's first voiced frame to the agent's silence.",
      buckets: [0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.25, 0.5, 1],
      registers,
    }),
  };
}

/** RTP. */
export function audioMetrics(registry: Registry) {
  return {
    silent: new Counter({
      name: 'offhook_calls_without_audio_total',
      help: 'Calls ended because no audio came from the caller any more.',
      registers: [registry],
    }),
    packets: new Counter({
      name: 'offhook_rtp_packets_total',
      help: 'RTP packets of calls that are over, by what became of them.',
      labelNames: ['direction', 'result'],
      registers: [registry],
    }),
    jitter: new Histogram({
      name: 'offhook_rtp_jitter_seconds',
      help: 'Jitter of the packets that came in, when their call was over. RFC 3550, 6.4.1.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16],
      registers: [registry],
    }),
  };
}

/** SIP: the engine counts for itself, `read` takes its numbers at every scrape. */
export function addSipMetrics(registry: Registry, read: () => MeasuredSip): void {
  const add = (
    name: string,
    help: string,
    label: string,
    values: (counts: MeasuredSip) => Iterable<readonly [string | number, number]>,
  ) =>
    new Counter({
      name,
      help,
      labelNames: [label],
      registers: [registry],
      collect() {
        this.reset();
        for (const [value, count] of values(read())) this.inc({ [label]: value }, count);
      },
    });
  add('offhook_sip_messages_total', 'SIP messages.', 'direction', (counts) => [
    ['in', counts.messagesIn],
    ['out', counts.messagesOut],
  ]);
  add(
    'offhook_sip_retransmissions_total',
    'Messages that came or went again.',
    'direction',
    (c) => [
      ['in', c.retransmissionsIn],
      ['out', c.retransmissionsOut],
    ],
  );
  new Counter({
    name: 'offhook_sip_responses_total',
    help: 'SIP responses that came and went, by status.',
    labelNames: ['direction', 'status'],
    registers: [registry],
    collect() {
      this.reset();
      const { responsesIn, responsesOut } = read();
      for (const [status, count] of responsesIn) this.inc({ direction: 'in', status }, count);
      for (const [status, count] of responsesOut) this.inc({ direction: 'out', status }, count);
    },
  });
  add('offhook_sip_dropped_total', 'SIP messages thrown away unanswered.', 'reason', (counts) =>
    Object.entries(counts.dropped),
  );
  add(
    'offhook_sip_rejected_total',
    'SIP requests refused before call control saw them.',
    'status',
    (counts) => counts.rejected,
  );
}

/** The REST interface. */
export function httpMetrics(registry: Registry) {
  const registers = [registry];
  return {
    duration: new Histogram({
      name: 'offhook_http_request_duration_seconds',
      help: 'From the request to its answer.',
      labelNames: ['route', 'method'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
    requests: new Counter({
      name: 'offhook_http_requests_total',
      help: 'Requests answered, by status.',
      labelNames: ['route', 'method', 'status'],
      registers,
    }),
    rateLimited: new Counter({
      name: 'offhook_rate_limited_total',
      help: 'Requests refused because the hour was used up.',
      registers,
    }),
  };
}
