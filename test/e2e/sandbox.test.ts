/** Simulated calls on the whole server, with a test key: outcome, events, recording, and how long they take. */
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMcpShop } from '../support/mcp/mcp-shop.ts';
import { SandboxClient } from '../support/server/sandbox-client.ts';
import { startServer, type TestServer } from '../support/server/server.ts';
import { answers, WebhookReceiver } from '../support/webhook/webhook-receiver.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What the decisions promise, from the request to the end, and from there to `call.transcribed`. */
const CALL_MS_MAX = 5000;
const TRANSCRIBED_MS_MAX = 5000;

const LINE_RATE_HZ = 8000;
const WAV_HEADER_BYTES = 44;
const FRAME_BYTES = 4;

/** So loud that it is a voice. */
const VOICE_PEAK = 1000;

let server: TestServer;
let client: SandboxClient;
let agentId: string;

beforeAll(async () => {
  server = await startServer({ environment: { WEBHOOK_ALLOW_LOCAL: 'true' } });
  await server.ready();
  client = new SandboxClient(server);
  agentId = await client.createAgent();
});

afterAll(() => server.stop());

async function simulated(direction: 'outbound' | 'inbound', body: object) {
  const [call] = await client.calls(direction, [{ agentId, ...body }]);
  if (call === undefined) throw new Error('The call is gone');
  return call;
}

const isVoice = (pcm: Int16Array) => pcm.some((sample) => Math.abs(sample) > VOICE_PEAK);

test.each([
  ['00', 'failed', 'no_answer', []],
  ['01', 'failed', 'busy', []],
  ['02', 'completed', 'user_hangup', []],
  ['03', 'completed', 'timeout', []],
  ['04', 'completed', 'transferred', ['call.bridged']],
  ['05', 'completed', 'user_hangup', ['appointment.booked']],
  ['06', 'failed', 'error', []],
  ['07', 'completed', 'agent_hangup', []],
  ['99', 'completed', 'user_hangup', []],
])('a call to a number that ends in %s: %s, %s', async (digits, status, endReason, more) => {
  const call = await simulated('outbound', { to: `+120255501${digits}` });
  const isAnswered = call.durationSeconds > 0;
  const endedAtMs = performance.now();
  const events = await client.events(call.id, isAnswered ? 'call.transcribed' : 'call.ended');

  expect(call).toMatchObject({ status, endReason });
  expect(call.tookMs).toBeLessThan(CALL_MS_MAX);
  expect(performance.now() - endedAtMs).toBeLessThan(TRANSCRIBED_MS_MAX);
  expect(events.map(({ event }) => event).toSorted()).toEqual(
    [...(isAnswered ? ['call.started', 'call.transcribed'] : []), ...more, 'call.ended'].toSorted(),
  );
});

test.each([
  ['friendly', 'completed', 'user_hangup'],
  ['transfer', 'completed', 'transferred'],
  ['appointment', 'completed', 'user_hangup'],
  ['message', 'completed', 'user_hangup'],
  ['card_number', 'completed', 'user_hangup'],
  ['own_tools', 'completed', 'user_hangup'],
  ['no_answer', 'failed', 'no_answer'],
])('a caller "%s" who rings in: %s, %s', async (scenario, status, endReason) => {
  const call = await simulated('inbound', { scenario });

  expect(call).toMatchObject({ direction: 'inbound', status, endReason });
  expect(call.tookMs).toBeLessThan(CALL_MS_MAX);
});

test('a caller who wants something looked up has the customer’s HTTP and MCP servers asked, as a live call would', async () => {
  const shop = await WebhookReceiver.open(answers(200, '{"status":"It ships on Friday"}'));
  const mcp = await openMcpShop();
  await client.request('POST', '/api/tools', {
    ...{ name: 'order_status', description: 'Looks up an order.', method: 'GET' },
    parameters: {
      ...{ type: 'object', properties: { orderId: { type: 'string' } }, required: ['orderId'] },
    },
    ...{ url: `http://127.0.0.1:${shop.port}/orders/{orderId}`, resultPath: 'status' },
  });
  await client.request('POST', '/api/mcp-servers', {
    ...{ name: 'shop', url: mcp.url, allowedTools: ['find.order'] },
  });
  const tools = ['order_status', 'shop'];
  const own = await client.createAgent({ tools, phoneNumber: '+12025550124' });

  const call = await simulated('inbound', { agentId: own, scenario: 'own_tools' });
  const events = await client.request('GET', `/api/calls/${call.id}/events`);

  expect(call).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
  expect(shop.received.map(({ path }) => path)).toEqual(['/orders/example']);
  const timeline = JSON.stringify(events.body.data);
  expect(timeline).toContain('"name":"order_status","outcome":"done"');
  expect(timeline).toContain('"name":"shop_find_order","outcome":"done"');
});

test('a simulated call is written down, with confidence on what the party said', async () => {
  const { transcript = [] } = await simulated('outbound', { to: '+12025550199' });

  const ofUser = transcript.filter(({ role }) => role === 'user');
  const ofAgent = transcript.filter(({ role }) => role === 'agent');
  expect(transcript[0]).toMatchObject({ role: 'agent', text: 'Hello, how can I help you?' });
  expect(ofUser).toHaveLength(3);
  expect(ofUser.every(({ confidence }) => confidence === 0.95)).toBe(true);
  expect(ofAgent.every(({ confidence }) => confidence === undefined)).toBe(true);
});

test('a simulated call can be listened to: as long as the call, with a voice on either side', async () => {
  const call = await simulated('outbound', { to: '+12025550199' });

  const { sizeBytes, sound } = await client.recording(call);

  const samples = (sizeBytes - WAV_HEADER_BYTES) / FRAME_BYTES;
  expect(sound?.left.length).toBe(samples);
  expect(Math.abs(samples / LINE_RATE_HZ - call.durationSeconds)).toBeLessThan(1.5);
  expect(isVoice(sound?.left ?? new Int16Array())).toBe(true);
  expect(isVoice(sound?.right ?? new Int16Array())).toBe(true);
});

test('twenty calls at once are over as soon as one, and each comes to its own end', async () => {
  const lastDigits = Array.from({ length: 20 }, (_, index) => String(index).padStart(2, '0'));
  const bodies = lastDigits.map((digits) => ({ agentId, to: `+120255501${digits}` }));

  const calls = await client.calls('outbound', bodies);

  const counts = Object.groupBy(calls, ({ endReason }) => endReason ?? 'none');
  expect(
    Object.entries(counts)
      .map(([reason, of]) => [reason, of?.length])
      .toSorted(),
  ).toEqual([
    ['agent_hangup', 1],
    ['busy', 1],
    ['error', 1],
    ['no_answer', 1],
    ['timeout', 1],
    ['transferred', 1],
    ['user_hangup', 14],
  ]);
  expect(Math.max(...calls.map(({ tookMs }) => tookMs))).toBeLessThan(CALL_MS_MAX);
});

test('POST hangup ends a simulated call', async () => {
  const asked = await client.request('POST', '/api/calls/outbound', {
    agentId,
    to: '+12025550103',
  });
  const { callId } = asked.body;
  await client.events(callId, 'call.started');

  const hungUp = await client.request('POST', `/api/calls/${callId}/hangup`);
  await client.events(callId, 'call.ended');
  const { body } = await client.request('GET', `/api/calls/${callId}`);

  expect(hungUp.status).toBe(202);
  expect(body.endReason).toBe('agent_hangup');
});

test('calls that a crash cuts off are brought to their end by the next start', async () => {
  const crashing = await startServer();
  const { dataDir } = await crashing.ready();
  const before = new SandboxClient(crashing);
  const body = { agentId: await before.createAgent(), to: '+12025550103' };
  const { body: asked } = await before.request('POST', '/api/calls/outbound', body);
  await before.events(asked.callId, 'call.started');
  crashing.kill('SIGKILL');
  await crashing.exited;

  const next = await startServer({ dataDir });
  await next.ready();
  const after = new SandboxClient(next);
  const { body: call } = await after.request('GET', `/api/calls/${asked.callId}`);
  await next.stop();
  await crashing.stop();

  expect(call).toMatchObject({ status: 'failed', endReason: 'error' });
});

/** A network namespace of its own, with nothing in it but the loopback interface. */
const WITHOUT_NETWORK = ['-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];

const mayUnshare =
  spawnSync('unshare', [...WITHOUT_NETWORK, 'true'], { stdio: 'ignore' }).status === 0;

test('simulated calls need no network at all', async ({ skip }) => {
  if (!mayUnshare) {
    process.stderr.write('skipped: needs unshare -n and ip, and the right to use them\n');
    skip('needs unshare -n and ip, and the right to use them');
  }
  const program = ['node_modules/.bin/node', 'test/support/server/sandbox-offline.ts'];

  const { stdout } = await promisify(execFile)('unshare', [...WITHOUT_NETWORK, ...program], {
    cwd: ROOT,
  });

  expect(JSON.parse(stdout)).toEqual({
    interfaces: ['lo'],
    endReasons: ['agent_hangup', 'transferred', 'user_hangup', 'user_hangup'],
  });
});
