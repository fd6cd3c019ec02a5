/** Names, labels and buckets of all metrics. */
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

/** What the watch over the machine's headroom tells. */
interface MeasuredAdmission {
  readonly callsLeft: number;
  /** Each figure over its limit, by name. */
  readonly loads: Readonly<Record<string, number>>;
}

export class AdmissionMetrics {
  readonly #refused: Counter<'shortage'>;
  #read: () => MeasuredAdmission | undefined = () => undefined;

  constructor(registry: Registry) {
    const registers = [registry];
    const read = () => this.#read();
    this.#refused = new Counter({
      name: 'offhook_calls_shed_total',
      help: 'Incoming calls refused although fewer than MAX_CALLS were in progress, by what was short.',
      labelNames: ['shortage'],
      registers,
    });
    new Gauge({
      name: 'offhook_calls_room',
      help: 'About how many more calls the server would take now.',
      registers,
      collect() {
        const measured = read();
        if (measured !== undefined) this.set(measured.callsLeft);
      },
    });
    new Gauge({
      name: 'offhook_load_ratio',
      help: 'What is measured over the limit from which on new calls are refused.',
      labelNames: ['shortage'],
      registers,
      collect() {
        for (const [shortage, load] of Object.entries(read()?.loads ?? {})) {
          this.set({ shortage }, load);
        }
      },
    });
  }

  /** A call was refused to spare the others. */
  shed(shortage: string): void {
    this.#refused.inc({ shortage });
  }

  /** Asked at every scrape. */
  watch(read: () => MeasuredAdmission | undefined): void {
    this.#read = read;
  }
}

/** The free space of a disk. */
interface MeasuredDisk {
  /** Undefined where the file system does not say. */
  readonly freeBytes: number | undefined;
  /** Bound below which no recording begins. */
  readonly freeMinBytes: number;
}

export class RecordingMetrics {
  readonly #registry: Registry;
  readonly #failed: Counter<'how'>;

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#failed = new Counter({
      name: 'offhook_recordings_failed_total',
      help: 'Recordings that were cut short or did not begin: the disk is full, or refuses.',
      labelNames: ['how'],
      registers: [registry],
    });
  }

  /** A recording was cut short, or did not begin. */
  failed(how: 'cut_short' | 'not_begun'): void {
    this.#failed.inc({ how });
  }

  /** Adds the free space of the recordings' disk, read at every scrape, and its bound. Once. */
  watch(disk: MeasuredDisk): void {
    const registers = [this.#registry];
    new Gauge({
      name: 'offhook_disk_free_bytes',
      help: 'Free space on the disk of the recordings.',
      registers,
      collect() {
        if (disk.freeBytes === undefined) this.reset();
        else this.set(disk.freeBytes);
      },
    });
    new Gauge({
      name: 'offhook_disk_free_min_bytes',
      help: 'Free space below which no recording begins: DISK_FREE_MIN_MB.',
      registers,
    }).set(disk.freeMinBytes);
  }
}

/** Where attempts are reported; `result` is one of ok, http, timeout, network, refused. */
interface WebhookMetrics {
  attempted(result: string, tookMs: number): void;

  /** Adds the two gauges of what waits, read at every scrape; `read` may fail. Once. */
  watchOutbox(read: () => Promise<MeasuredOutbox>): void;
}

/** What waits in the outbox now. */
interface MeasuredOutbox {
  readonly pending: number;
  /** Age of the oldest; 0 when there is none. */
  readonly oldestSeconds: number;
}

export function webhookMetrics(registry: Registry): WebhookMetrics {
  const registers = [registry];
  const attempts = new Counter<'result'>({
    name: 'offhook_webhook_attempts_total',
    help: 'Attempts to deliver a webhook, by what came of them.',
    labelNames: ['result'],
    registers,
  });
  for (const result of ['ok', 'http', 'timeout', 'network', 'refused']) attempts.inc({ result }, 0);
  const seconds = new Histogram({
    name: 'offhook_webhook_attempt_seconds',
    help: 'From the beginning of an attempt to its answer, or to giving up.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  return {
    attempted: (result, tookMs) => {
      attempts.inc({ result });
      seconds.observe(tookMs / 1000);
    },
    watchOutbox: (read) => addOutboxGauges(registry, read),
  };
}

function addOutboxGauges(registry: Registry, read: () => Promise<MeasuredOutbox>): void {
  addAskedGauge(registry, {
    name: 'offhook_webhook_outbox_pending',
    help: 'Deliveries that are not over.',
    read: async () => (await read()).pending,
  });
  addAskedGauge(registry, {
    name: 'offhook_webhook_outbox_oldest_seconds',
    help: 'Age of the oldest delivery that is not over; of the first 100,000 where there are more.',
    read: async () => (await read()).oldestSeconds,
  });
}

/**
 * Adds a gauge. Where `read` fails the last value stays: a database that cannot be read must not take the other figures
 * with it.
 */
export function addAskedGauge(
  registry: Registry,
  gauge: {
    readonly name: string;
    readonly help: string;
    readonly read: () => number | Promise<number>;
  },
): void {
  const { name, help, read } = gauge;
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      try {
        this.set(await read());
      } catch {
        // The reader's owner reports it.
      }
    },
  });
}
