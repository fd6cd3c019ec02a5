/** Traces of simulated calls as a collector gets them, and a server that has none to send them to. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { attributesOf, OtlpReceiver, type OtlpSpan } from '../../support/server/otlp-receiver.ts';
import { SandboxClient } from '../../support/server/sandbox-client.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const WATCH = pathToFileURL(
  join(import.meta.dirname, '../../support/server/loaded-packages.ts'),
).href;

/** The limit of the flush, and what stopping takes besides. */
const STOP_MS_MAX = 7000;

const receiver = new OtlpReceiver();
let traced: TestServer;

beforeAll(async () => {
  traced = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: await receiver.start(),
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc',
    OTEL_SERVICE_NAME: 'reception',
  });
});

afterAll(async () => {
  await traced.stop();
  await receiver.stop();
});

async function start(environment: Readonly<Record<string, string>>): Promise<TestServer> {
  const watch = { NODE_OPTIONS: `--import=${WATCH}` };
  return (await startServer({ environment: { ...watch, ...environment } })).ready();
}

async function simulated(server: TestServer, digits: string) {
  const client = new SandboxClient(server);
  const agentId = await client.createAgent({ phoneNumber: `+120255502${digits}` });
  const [call] = await client.calls('outbound', [{ agentId, to: `+120255501${digits}` }]);
  if (call === undefined) throw new Error('The call is gone');
  return { agentId, call };
}

const names = (spans: readonly OtlpSpan[]) => spans.map(({ name }) => name);
const lengthMs = ({ startTimeUnixNano, endTimeUnixNano }: OtlpSpan) =>
  Number(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)) / 1e6;

test('a call is one trace: turns with their stages in it, tools, and neither words nor numbers', async () => {
  const { agentId, call } = await simulated(traced, '05');
  const spans = await receiver.traceOf(call.id);

  const [root, ...others] = spans.filter(({ parentSpanId }) => (parentSpanId ?? '') === '');
  const turns = spans.filter(({ name }) => name === 'turn');
  const [turn] = turns;
  const stages = spans.filter(({ parentSpanId }) => parentSpanId === turn?.spanId);
  expect(others).toEqual([]);
  expect(attributesOf(root?.attributes ?? [])).toEqual({
    'call.id': call.id,
    'agent.id': agentId,
    'call.direction': 'outbound',
    'call.environment': 'test',
    'call.status': 'completed',
    'call.end_reason': 'user_hangup',
  });
  expect(turns.length).toBeGreaterThan(1);
  expect(turns.every(({ parentSpanId }) => parentSpanId === root?.spanId)).toBe(true);
  expect(names(stages)).toEqual(
    expect.arrayContaining(['endpointing', 'stt', 'llm', 'tts', 'playout']),
  );
  expect(stages.every((stage) => lengthMs(stage) <= lengthMs(turn as OtlpSpan))).toBe(true);
  expect(names(spans)).toContain('tool');
  const sent = receiver.batches.map(({ text }) => text).join();
  expect(sent).not.toMatch(/\+1202|dentist|Hello/);
});

test('the collector is given the headers and the name of the service that were set', () => {
  const [batch] = receiver.batches;

  expect(batch?.path).toBe('/v1/traces');
  expect(batch?.headers.authorization).toBe('Basic abc');
  expect(receiver.resources[0]).toMatchObject({ 'service.name': 'reception' });
  expect(traced.output).toContain('loaded @opentelemetry/sdk');
  expect(traced.output).not.toContain('Basic abc');
});

test('a collector that is away harms no call and keeps no server from stopping', async () => {
  await receiver.stop();

  const { call } = await simulated(traced, '99');
  const askedAtMs = performance.now();
  await traced.stop();

  expect(call).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
  expect(performance.now() - askedAtMs).toBeLessThan(STOP_MS_MAX);
});

test('without a collector nothing of OpenTelemetry is loaded', async () => {
  const server = await start({});

  const { call } = await simulated(server, '01');
  await server.stop();

  expect(call.endReason).toBe('busy');
  expect(server.output).not.toContain('loaded @opentelemetry/sdk');
});
