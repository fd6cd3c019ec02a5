/** The names, labels and buckets of what is counted and measured. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

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
      help: 'Calls begun.',
      labelNames: ['direction'],
      registers,
    }),
    ended: new Counter({
      name: 'offhook_calls_ended_total',
      help: 'Calls ended, by why.',
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
    bargeInStop: new Histogram({
      name: 'offhook_barge_in_stop_seconds',
      help: "From the caller's first voiced frame to the agent's silence.",
      buckets: [0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.25, 0.5, 1],
      registers,
    }),
  };
}

/** SIP and RTP. */
export function networkMetrics(registry: Registry) {
  const registers = [registry];
  return {
    sipRequests: new Counter({
      name: 'offhook_sip_requests_total',
      help: 'SIP requests answered.',
      labelNames: ['method', 'status'],
      registers,
    }),
    sipRejected: new Counter({
      name: 'offhook_sip_rejected_total',
      help: 'SIP messages refused before call control saw them.',
      labelNames: ['reason'],
      registers,
    }),
    rtpPackets: new Counter({
      name: 'offhook_rtp_packets_total',
      help: 'RTP packets, by what became of them.',
      labelNames: ['direction', 'result'],
      registers,
    }),
  };
}

/** The REST interface. */
export function httpMetrics(registry: Registry) {
  const registers = [registry];
  return {
    duration: new Histogram({
      name: 'offhook_http_request_duration_seconds',
      help: 'From the request to its answer.',
      labelNames: ['route', 'method', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
    rateLimited: new Counter({
      name: 'offhook_rate_limited_total',
      help: 'Requests refused because the hour was used up.',
      registers,
    }),
  };
}
