import { expect, test } from 'vitest';
import { Metrics } from '../../src/lib/metrics/metrics.ts';

/** The value of one sample line, or undefined when there is none. */
async function sample(metrics: Metrics, line: string): Promise<number | undefined> {
  const found = (await metrics.render()).split('\n').find((text) => text.startsWith(`${line} `));
  return found === undefined ? undefined : Number(found.slice(line.length + 1));
}

function open(): Metrics {
  return new Metrics({ version: '1.2.3' });
}

test('Metrics counts calls and how they ended, and knows how many are live', async () => {
  const metrics = open();

  metrics.callStarted('inbound');
  metrics.callStarted('inbound');
  metrics.callEnded('inbound', 'user_hangup', 42);
  metrics.callRefused(503);

  expect(await sample(metrics, 'offhook_calls_active{direction="inbound"}')).toBe(1);
  expect(await sample(metrics, 'offhook_calls_started_total{direction="inbound"}')).toBe(2);
  expect(
    await sample(
      metrics,
      'offhook_calls_ended_total{direction="inbound",end_reason="user_hangup"}',
    ),
  ).toBe(1);
  expect(await sample(metrics, 'offhook_call_duration_seconds_sum{direction="inbound"}')).toBe(42);
  expect(await sample(metrics, 'offhook_calls_refused_total{status="503"}')).toBe(1);
});

test('Metrics shows no live calls as 0 from the start, so that a graph has no gap', async () => {
  const metrics = open();

  expect(await sample(metrics, 'offhook_calls_active{direction="inbound"}')).toBe(0);
  expect(await sample(metrics, 'offhook_calls_active{direction="outbound"}')).toBe(0);
});

test('Metrics measures the stages of a turn that happened, in seconds', async () => {
  const metrics = open();

  metrics.turn({ endOfTurnMs: 200, firstAudioMs: 450, bargeInMs: 60 });
  metrics.bargeIn();

  const stage = (name: string) => `offhook_turn_latency_seconds_sum{stage="${name}"}`;
  expect(await sample(metrics, stage('end_of_turn'))).toBe(0.2);
  expect(await sample(metrics, stage('first_audio'))).toBe(0.45);
  expect(await sample(metrics, stage('first_token'))).toBeUndefined();
  expect(await sample(metrics, 'offhook_barge_in_stop_seconds_sum')).toBe(0.06);
  expect(await sample(metrics, 'offhook_barge_in_total')).toBe(1);
});

test('Metrics counts answers begun ahead by what became of them', async () => {
  const metrics = open();

  for (const outcome of ['hit', 'miss', 'hit'] as const) metrics.speculation(outcome);
  metrics.turn({ turnScoredMs: 180 });

  expect(await sample(metrics, 'offhook_speculations_total{outcome="hit"}')).toBe(2);
  expect(await sample(metrics, 'offhook_speculations_total{outcome="miss"}')).toBe(1);
  expect(await sample(metrics, 'offhook_turn_latency_seconds_sum{stage="turn_scored"}')).toBe(0.18);
});

test('Metrics counts a call that was never answered as ended, and never as live', async () => {
  const metrics = open();

  metrics.callMissed('inbound', 'no_answer');

  const ended = 'offhook_calls_ended_total{direction="inbound",end_reason="no_answer"}';
  expect(await sample(metrics, ended)).toBe(1);
  expect(await sample(metrics, 'offhook_calls_active{direction="inbound"}')).toBe(0);
  expect(
    await sample(metrics, 'offhook_call_duration_seconds_count{direction="inbound"}'),
  ).toBeUndefined();
});

test('Metrics counts unknown SIP methods as other, so that strangers create no labels', async () => {
  const metrics = open();

  metrics.httpRequest({ route: '/x', method: 'BREW', status: 404, durationMs: 5 });

  expect(await metrics.render()).toContain('route="/x",method="other",status="404"');
});

test('Metrics adds up the packets of calls', async () => {
  const metrics = open();

  for (const packetsReceived of [100, 50]) {
    metrics.audio({
      packetsReceived,
      packetsSent: 70,
      packetsLost: 2,
      packetsRejected: 1,
      jitterMs: 3,
      details: { packetsUnsent: 4 },
    });
  }

  const packets = (labels: string) => sample(metrics, `offhook_rtp_packets_total{${labels}}`);
  expect(await packets('direction="in",result="ok"')).toBe(150);
  expect(await packets('direction="in",result="lost"')).toBe(4);
  expect(await packets('direction="in",result="rejected"')).toBe(2);
  expect(await packets('direction="out",result="ok"')).toBe(140);
  expect(await packets('direction="out",result="unsent"')).toBe(8);
});

test('Metrics shows what the SIP engine has counted at the moment of the scrape', async () => {
  const metrics = open();
  const counts = {
    messagesIn: 0,
    messagesOut: 0,
    retransmissionsIn: 0,
    retransmissionsOut: 0,
    dropped: { unreadable: 0 },
    rejected: new Map<number, number>(),
    responsesIn: new Map<number, number>(),
    responsesOut: new Map<number, number>(),
  };
  metrics.watchSip(() => counts);
  await metrics.render();

  counts.messagesIn = 7;
  counts.retransmissionsOut = 2;
  counts.dropped.unreadable = 3;
  counts.rejected.set(400, 4);
  counts.responsesOut.set(180, 5);

  expect(await sample(metrics, 'offhook_sip_messages_total{direction="in"}')).toBe(7);
  expect(await sample(metrics, 'offhook_sip_retransmissions_total{direction="out"}')).toBe(2);
  expect(await sample(metrics, 'offhook_sip_dropped_total{reason="unreadable"}')).toBe(3);
  expect(await sample(metrics, 'offhook_sip_rejected_total{status="400"}')).toBe(4);
  expect(await sample(metrics, 'offhook_sip_responses_total{direction="out",status="180"}')).toBe(
    5,
  );
});

test('Metrics counts requests that were refused for their number', async () => {
  const metrics = open();

  metrics.rateLimited();

  expect(await sample(metrics, 'offhook_rate_limited_total')).toBe(1);
});

test('Metrics names everything as Prometheus advises', async () => {
  const metrics = open();
  const none = { messagesIn: 0, messagesOut: 0, retransmissionsIn: 0, retransmissionsOut: 0 };
  const counts = { rejected: new Map(), responsesIn: new Map(), responsesOut: new Map() };
  metrics.watchSip(() => ({ ...none, ...counts, dropped: {} }));
  metrics.start();

  const text = await metrics.render();
  metrics.stop();

  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => ({
    name,
    type,
  }));
  const ours = types.filter(({ name }) => name?.startsWith('offhook_'));
  expect(ours.length).toBeGreaterThan(14);
  for (const { name, type } of ours) {
    expect(name).toMatch(/^offhook_[a-z_]+$/);
    expect(name?.endsWith('_total')).toBe(type === 'counter');
    if (type === 'histogram') expect(name).toMatch(/_seconds$/);
  }
  expect(text).toMatch(/^offhook_build_info\{version="1\.2\.3",node_version="v\d+[^"]*"\} 1$/m);
  expect(types.map(({ name }) => name)).toContain('process_cpu_seconds_total');
});

test('Metrics starts and stops twice without complaint', () => {
  const metrics = open();

  metrics.start();
  metrics.start();
  metrics.stop();

  expect(() => metrics.stop()).not.toThrow();
});
