/**
 * `rest-scrape N PRIORITY PORT`: our media engine as `rtp-engine` runs it, with `/metrics` on the port and
 * as many series as on a busy server.
 */
import { randomBytes } from 'node:crypto';
import { HttpServer } from '../../src/api/http/http-server.ts';
import { idMaker } from '../../src/domain/ids.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { Metrics } from '../../src/lib/metrics/metrics.ts';

const END_REASONS = [
  'user_hangup',
  'agent_hangup',
  'timeout',
  'transferred',
  'error',
  'no_answer',
  'busy',
];

/** As many as the interface has, each with the answers that customers really get. */
const OPERATIONS = 28;
const STATUSES = [200, 400, 401, 404];

const [calls = '1', , port = '0'] = process.argv.slice(2);
const metrics = new Metrics({ version: 'bench' });
metrics.start();
fill(Number(calls));
const server = new HttpServer({
  host: '127.0.0.1',
  port: Number(port),
  fetch: answer,
  newId: idMaker({ nowMs: Date.now, random: randomBytes }),
  clock,
});
await server.start();
await import('./rtp-engine.ts');

/** Says, as browsers understand it, how long the server itself took. */
async function answer(): Promise<Response> {
  const startedMs = performance.now();
  const text = await metrics.render();
  const tookMs = performance.now() - startedMs;
  return new Response(text, { headers: { 'Server-Timing': `render;dur=${tookMs.toFixed(3)}` } });
}

/** Every label value that so many calls, and requests about them, can bring. */
function fill(count: number): void {
  for (let call = 0; call < count; call += 1) {
    const direction = call % 2 === 0 ? 'inbound' : 'outbound';
    metrics.callStarted(direction);
    metrics.callEnded(direction, END_REASONS[call % END_REASONS.length] ?? 'error', call);
    metrics.callMissed(direction, END_REASONS[call % END_REASONS.length] ?? 'error');
    metrics.callStarted(direction);
    const ms = call * 10;
    metrics.turn({ endOfTurnMs: ms, textFinalMs: ms, firstTokenMs: ms, firstClauseMs: ms });
    metrics.turn({ firstAudioMs: ms, firstPacketMs: ms, bargeInMs: ms });
    metrics.bargeIn();
    const packets = {
      packetsReceived: 50,
      packetsSent: 50,
      packetsLost: 1,
      packetsRejected: 1,
      jitterMs: 2,
    };
    metrics.audio(packets);
    for (const job of ['stt', 'llm', 'tts'] as const) metrics.modelTimes.answered(job, 'bench', ms);
  }
  for (const status of [400, 404, 480, 486, 488, 503, 603]) metrics.callRefused(status);
  for (let operation = 0; operation < OPERATIONS; operation += 1) {
    for (const status of STATUSES) {
      const route = `/api/operations/${operation}/{id}`;
      metrics.httpRequest({ route, method: 'GET', status, durationMs: status / 10 });
    }
  }
}
