/** `/api/live/calls/{callId}/audio`: an endless WAV for authorized listeners, without load on the call. */
import { type IncomingMessage, request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { HttpServer } from '../../src/api/http/http-server.ts';
import type { Call } from '../../src/domain/call/call.ts';
import type { Listening, LiveSound, SoundListener } from '../../src/domain/call/live-sound.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
import { endlessWavHeader, readWavHeader } from '../../src/media/recording/wav-file.ts';
import { addKey, FOREIGN_KEY, LIVE_KEY, openTestApi, TEST_KEY } from '../support/api/test-api.ts';
import { buildCall } from '../support/store/build-call.ts';

const PATH = '/api/live/calls/call_1/audio';
const HEADER_BYTES = 44;
const PIECE_BYTES = 3200;

/** An interface to one call, whose sound is the test's to make. */
async function openWorld(fields: Partial<Call> = {}, refusal?: Listening) {
  const logged: object[] = [];
  const log: Logger = { ...silentLogger, info: (facts) => logged.push(facts) };
  const listeners = new Map<SoundListener, string>();
  const liveSound: LiveSound = {
    watchLevels: () => () => undefined,
    listen: (callId, listener) => {
      if (refusal !== undefined) return refusal;
      listeners.set(listener, callId);
      const header = endlessWavHeader({ channels: 2, rateHz: 8000 });
      return { kind: 'begun', header, stop: () => listeners.delete(listener) };
    },
    quality: async () => undefined,
    close: () => undefined,
  };
  const api = await openTestApi({ liveSound, log });
  const call = { accountId: 'acct_main', status: 'in_progress', ...fields } as const;
  await api.store.calls.insert(buildCall(call), []);
  const sound = (sample: number) => {
    for (const listener of listeners.keys())
      listener.onSound(new Uint8Array(PIECE_BYTES).fill(sample));
  };
  return { api, listeners, logged, sound };
}

type World = Awaited<ReturnType<typeof openWorld>>;

async function listen(world: World) {
  const response = await world.api.request('GET', PATH);
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error(`There is no sound, status ${response.status}`);
  onTestFinished(() => reader.cancel());
  return { response, reader };
}

/** Reads what has been sent by now, and the end where the stream is over. */
async function readAll(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(pieces);
    pieces.push(value);
  }
}

test('GET /api/live/calls/{callId}/audio sends an endless WAV', async () => {
  const world = await openWorld();

  const { response, reader } = await listen(world);
  world.sound(1);
  world.sound(2);
  for (const listener of world.listeners.keys()) listener.onOver();
  const bytes = await readAll(reader);

  expect(response.status).toBe(200);
  expect(response.headers.get('Content-Type')).toBe('audio/wav');
  expect(response.headers.get('Cache-Control')).toBe('no-store');
  expect(response.headers.has('Content-Length')).toBe(false);
  expect(readWavHeader(bytes)).toEqual({ channels: 2, rateHz: 8000, dataBytes: 0xffff_ffff });
  expect(bytes.length).toBe(HEADER_BYTES + 2 * PIECE_BYTES);
  expect([bytes[HEADER_BYTES], bytes.at(-1)]).toEqual([1, 2]);
  expect(world.listeners.size).toBe(0);
});

test('GET /api/live/calls/{callId}/audio leaves out whole pieces for a client that does not read', async () => {
  const world = await openWorld();
  const { reader } = await listen(world);

  for (let piece = 0; piece < 10_000; piece += 1) world.sound(piece % 200);
  const isStillListening = world.listeners.size === 1;
  for (const listener of world.listeners.keys()) listener.onOver();
  const bytes = await readAll(reader);

  expect(isStillListening).toBe(true);
  expect(bytes.length).toBeLessThanOrEqual(64 * 1024);
  expect((bytes.length - HEADER_BYTES) % PIECE_BYTES).toBe(0);
});

test('GET /api/live/calls/{callId}/audio goes on with the sound of now for a client that reads again', async () => {
  const world = await openWorld();
  const { reader } = await listen(world);
  for (let piece = 0; piece < 100; piece += 1) world.sound(1);
  for (let piece = 0; piece < 21; piece += 1) await reader.read();

  world.sound(2);

  expect((await reader.read()).value?.[0]).toBe(2);
});

test('GET /api/live/calls/{callId}/audio ends when the key is revoked', async () => {
  const world = await openWorld();
  const { reader } = await listen(world);
  const scope = { accountId: 'acct_main', environment: 'live' } as const;
  const [key] = await world.api.store.apiKeys.list(scope);

  await world.api.store.apiKeys.revoke(scope, key?.id ?? '', world.api.store.clock.now());
  world.sound(1);
  world.api.store.clock.advance(500);
  // The piece that asks still goes out.
  world.sound(2);
  await new Promise((resolve) => setImmediate(resolve));
  world.sound(3);

  expect((await readAll(reader)).length).toBe(HEADER_BYTES + 2 * PIECE_BYTES);
  expect(world.listeners.size).toBe(0);
});

test('GET /api/live/calls/{callId}/audio stops listening when the client goes', async () => {
  const world = await openWorld();
  const { reader } = await listen(world);

  await reader.cancel();
  world.sound(1);

  expect(world.listeners.size).toBe(0);
});

test('GET /api/live/calls/{callId}/audio leaves word of which key has listened to which call', async () => {
  const world = await openWorld();
  const [key] = await world.api.store.apiKeys.list({ accountId: 'acct_main', environment: 'live' });

  await listen(world);
  await world.api.request('HEAD', PATH);

  const entries = world.logged.filter((entry) => 'callId' in entry);
  expect(entries).toEqual([{ callId: 'call_1', keyId: key?.id }]);
});

test('HEAD /api/live/calls/{callId}/audio listens to nothing', async () => {
  const world = await openWorld();

  const response = await world.api.request('HEAD', PATH);

  expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'audio/wav']);
  expect(world.listeners.size).toBe(0);
});

test.each([
  'queued',
  'ringing',
  'completed',
  'failed',
] as const)('GET /api/live/calls/{callId}/audio answers 409 to a call that is %s', async (status) => {
  const { api, listeners } = await openWorld({ status });

  const answer = await api.json('GET', PATH);

  expect(answer).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
  expect(listeners.size).toBe(0);
});

test.each([
  [{ kind: 'not-in-progress' }, 409, 'CONFLICT', 'not in progress'],
  [{ kind: 'simulated' }, 409, 'CONFLICT', 'simulated'],
  [{ kind: 'full', why: '5 listen to it already' }, 429, 'RATE_LIMITED', '5 listen'],
] as const)('GET /api/live/calls/{callId}/audio answers %o with its error', async (refusal, status, code, words) => {
  const { api } = await openWorld({}, refusal);

  const response = await api.request('GET', PATH);

  expect(response.headers.get('Content-Type')).toBe('application/json');
  expect(response.headers.get('Retry-After')).toBe(status === 429 ? '10' : null);
  expect(await response.json()).toMatchObject({
    error: { status, code, message: expect.stringContaining(words) },
  });
});

const WRITE_KEY = `svc_live_${'W'.repeat(32)}`;

test.each([
  ['another account', FOREIGN_KEY, 404],
  ['the other environment', TEST_KEY, 404],
  ['a key that may only write', WRITE_KEY, 403],
  ['a client without a key', null, 401],
])('GET /api/live/calls/{callId}/audio lets %s hear nothing', async (_who, key, status) => {
  const { api, listeners } = await openWorld();
  const facts = { accountId: 'acct_main', environment: 'live' } as const;
  await addKey(api.store, WRITE_KEY, { ...facts, scopes: ['calls:write'] });

  const answer = await api.json('GET', PATH, { key });

  expect(answer.status).toBe(status);
  expect(listeners.size).toBe(0);
});

test('GET /api/live/calls/{callId}/audio keeps no sound for a client that stops reading', async () => {
  const world = await openWorld();
  const server = new HttpServer({
    ...{ host: '127.0.0.1', port: 0, clock: systemClock, newId: () => 'req_0' },
    fetch: world.api.app.fetch,
  });
  const port = await server.start();
  const headers = { Authorization: `Bearer ${LIVE_KEY}` };
  const client = request({ port, host: '127.0.0.1', path: PATH, headers });
  const answered = new Promise<IncomingMessage>((resolve) => client.once('response', resolve));
  client.on('error', () => undefined);
  client.end();
  const answer = (await answered).pause();

  // Half an hour of sound, and time for all of it to leave that can.
  for (let piece = 0; piece < 18_000; piece += 1) {
    world.sound(piece % 200);
    if (piece % 200 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  for (const listener of world.listeners.keys()) listener.onOver();
  let keptBytes = 0;
  for await (const bytes of answer) keptBytes += bytes.length;
  await server.stop();

  // Of 58 MB: what both ends' sockets hold, and two seconds.
  expect(keptBytes).toBeLessThan(8_000_000);
  expect((keptBytes - HEADER_BYTES) % PIECE_BYTES).toBe(0);
});
