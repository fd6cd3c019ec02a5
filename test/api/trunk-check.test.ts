/** `POST /api/trunks/{name}/check`: JSON at the end, or a stream of what each step finds, of a check against a real far end. */
import { expect, onTestFinished, test } from 'vitest';
import { openAddresses } from '../../src/compose/addresses.ts';
import { diagnose } from '../../src/compose/sip-doctor-client.ts';
import { openTrunkControl } from '../../src/compose/trunk-control.ts';
import { readConfig } from '../../src/config/config.ts';
import type { TrunkControl } from '../../src/domain/dialing/trunk.ts';
import { ServiceError } from '../../src/domain/service-error.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { silentLogger as log } from '../../src/lib/logger.ts';
import { readTrunkSettings } from '../../src/telephony/trunks/trunk-registry.ts';
import { EventReader } from '../support/api/event-reader.ts';
import { addKey, openTestApi } from '../support/api/test-api.ts';
import { type Script, startCarrier } from '../support/sip/scripted-carrier.ts';
import { trunkTo } from '../telephony/plane.ts';

const KEY = `svc_live_${'7'.repeat(32)}`;

const PATH = '/api/trunks/acme/check';

const EVENTS = { Accept: 'text/event-stream' };

type Steps = readonly {
  readonly step: string;
  readonly state: string;
  readonly message: string | null;
}[];

/** The API before a trunk control; a fifth check at a time is refused. */
async function openApi(trunkControl: TrunkControl) {
  const api = await openTestApi({ trunkControl });
  await addKey(api.store, KEY, {
    ...{ accountId: 'acct_main', scopes: ['admin'], environment: 'live' },
  });
  const check = (headers: Readonly<Record<string, string>> = {}, path = PATH) =>
    api.request('POST', path, { key: KEY, headers });
  const follow = async () => {
    const response = await check(EVENTS);
    const reader = new EventReader(response);
    onTestFinished(() => reader.cancel());
    return { response, reader };
  };
  return { check, follow };
}

/** The trunk `acme` of a far end that answers as the script says. */
async function openWorld(script: Script) {
  const carrier = await startCarrier(script);
  onTestFinished(() => carrier.stop());
  const config = readConfig({});
  const trunk = trunkTo(carrier.hostPort);
  const addresses = openAddresses({
    ...{ config, trunks: [trunk], onChange: () => undefined, clock, log },
  });
  const control = openTrunkControl({
    config,
    store: { storedTrunks: {} as never },
    telephony: {
      useStored: async () => undefined,
      check: async (name, watch) =>
        name === 'acme' ? diagnose(trunk, { config, addresses, clock, log, watch }) : undefined,
    },
  });
  return { carrier, ...(await openApi(control)) };
}

const controlWith = (check: TrunkControl['check']): TrunkControl => ({
  read: readTrunkSettings,
  reload: async () => undefined,
  check,
});

const stateOf = (data: unknown, step: string) =>
  (data as { readonly steps: Steps }).steps.find((known) => known.step === step)?.state;

/** Reads on to the event in which the step is in that state. */
async function until(reader: EventReader, step: string, state: string): Promise<Steps> {
  for (;;) {
    const { data } = await reader.next();
    if (stateOf(data, step) === state) return (data as { readonly steps: Steps }).steps;
  }
}

const SOUND: Script = () => ({ status: 200 });

test.each([
  ['no Accept', {}],
  ['any type', { Accept: '*/*' }],
  ['JSON first', { Accept: 'application/json, text/event-stream' }],
])('POST /api/trunks/{name}/check with %s answers once, with the steps; 404 without the trunk', async (_case, headers) => {
  const { check } = await openWorld(SOUND);

  const found = await check(headers);
  const none = await check(headers, '/api/trunks/none/check');

  expect([found.status, none.status]).toEqual([200, 404]);
  expect(found.headers.get('Content-Type')).toBe('application/json');
  expect(await found.json()).toEqual({
    ok: true,
    steps: ['dns', 'connection', 'options', 'address', 'codecs', 'clock'].map((step) => ({
      ...{ step, ok: true, message: expect.any(String) },
    })),
  });
});

test('POST /api/trunks/{name}/check as a stream tells each step while a slow carrier takes its time', async () => {
  let mayAnswer = false;
  const { follow } = await openWorld(() => (mayAnswer ? { status: 200 } : undefined));

  const { response, reader } = await follow();
  const during = await until(reader, 'options', 'running');
  mayAnswer = true;
  const answered = await until(reader, 'options', 'ok');
  await until(reader, 'clock', 'ok');

  expect(response.headers.get('Content-Type')).toBe('text/event-stream');
  expect(during.map(({ step, state }) => `${step} ${state}`)).toEqual([
    ...['dns ok', 'connection ok', 'options running'],
    ...['address waiting', 'codecs waiting', 'clock waiting'],
  ]);
  expect(during[1]?.message).toBe('UDP needs no connection');
  expect(during[2]?.message).toBeNull();
  expect(answered[2]?.message).toContain('answers OPTIONS with 200');
  await reader.next();
  expect(await reader.next()).toMatchObject({ event: 'check', data: { ok: true } });
  expect(await reader.isOver()).toBe(true);
});

test('POST /api/trunks/{name}/check as a stream tells what a refusal means, and skips nothing that can be asked', async () => {
  const { follow } = await openWorld(() => ({ status: 503 }));

  const { reader } = await follow();
  const steps = await until(reader, 'clock', 'ok');

  expect(steps.map(({ step, state }) => `${step} ${state}`)).toEqual([
    ...['dns ok', 'connection ok', 'options failed', 'address ok', 'codecs ok', 'clock ok'],
  ]);
  expect(steps[2]?.message).toContain('it takes no calls now');
});

test('POST /api/trunks/{name}/check as a stream skips what a silent carrier makes impossible', async () => {
  const { follow } = await openWorld(() => undefined);

  const { reader } = await follow();
  const failed = await until(reader, 'options', 'failed');
  const { data: last } = await reader.next();
  const { event, data: found } = await reader.next();

  expect(failed[2]?.message).toContain('does not answer OPTIONS');
  expect([stateOf(last, 'address'), stateOf(last, 'clock')]).toEqual(['skipped', 'skipped']);
  expect(event).toBe('check');
  expect(found).toMatchObject({ ok: false, steps: [{}, {}, { step: 'options', ok: false }] });
}, 30_000);

test('POST /api/trunks/{name}/check as a stream is stopped by a client that leaves, which makes room for another', async () => {
  const { follow, check } = await openWorld(() => undefined);
  const all = await Promise.all([1, 2, 3, 4].map(follow));
  for (const { reader } of all) await until(reader, 'options', 'running');
  const startedAtMs = performance.now();

  const refused = await check(EVENTS);
  for (const { reader } of all) await reader.cancel();
  const again = async () => (await follow()).response.status;
  await expect.poll(again).toBe(200);

  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '10']);
  expect(refused.headers.get('Content-Type')).toBe('application/json');
  // The silent carrier would have been waited for 5 s.
  expect(performance.now() - startedAtMs).toBeLessThan(4_000);
});

test('POST /api/trunks/{name}/check as a stream answers 404 without the trunk', async () => {
  const { check } = await openWorld(SOUND);

  const none = await check(EVENTS, '/api/trunks/none/check');

  expect(none.status).toBe(404);
  expect(await none.json()).toMatchObject({ error: { code: 'NOT_FOUND' } });
});

test('POST /api/trunks/{name}/check as a stream ends with the error of a check that breaks off', async () => {
  const steps = [{ step: 'dns', state: 'running', message: null }] as const;
  const { follow } = await openApi(
    controlWith(async (_name, watch) => {
      watch?.onProgress(steps);
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error('the secret part');
    }),
  );

  const { response, reader } = await follow();
  const { event: first } = await reader.next();
  const { event: last, data } = await reader.next();

  expect([response.status, first, last]).toEqual([200, 'progress', 'failed']);
  expect(data).toMatchObject({
    error: { code: 'INTERNAL_ERROR', status: 500, requestId: expect.stringMatching(/^req_/) },
  });
  expect(JSON.stringify(data)).not.toContain('the secret part');
  expect(await reader.isOver()).toBe(true);
});

test('POST /api/trunks/{name}/check answers 503 with Retry-After while too many checks are in progress', async () => {
  const refused = new ServiceError('SERVICE_UNAVAILABLE', 'Cannot check the trunk now');
  const { check } = await openApi(controlWith(() => Promise.reject(refused)));
  const headers = { 'X-Idempotency-Key': 'k1' };

  const response = await check(headers);
  const again = await check(headers);

  expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '10']);
  // The key is free for another try.
  expect(again.headers.get('Idempotent-Replayed')).toBeNull();
});
