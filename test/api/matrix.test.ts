/** Every operation of the document meets every way of asking wrongly: what others add is met as well. */
import { expect, test } from 'vitest';
import {
  ADMIN_KEY,
  bodyOf,
  keyOf,
  openApiWorld,
  pathOf,
  SANDBOX_ADMIN_KEY,
} from '../support/api/api-world.ts';
import { ask, DESCRIPTION, expectErrors, OPERATIONS } from '../support/api/ask-operations.ts';
import { API_HEADERS, errorFaults } from '../support/api/error-answer.ts';
import { textOf } from '../support/api/event-reader.ts';
import type { Operation } from '../support/api/openapi-description.ts';
import { breakStore } from '../support/store/broken-store.ts';

const WITH_BODY = OPERATIONS.filter(({ body }) => body !== undefined);

const WITHOUT_BODY = OPERATIONS.filter(
  ({ body, method }) => body === undefined && method === 'POST',
);

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'BREW'];

const MEBIBYTE = 1024 * 1024;

test('Every path answers 404 to other methods, with Allow', async () => {
  const world = await openApiWorld();

  for (const path of new Set(OPERATIONS.map((operation) => operation.path))) {
    // `/api/calls/outbound` is no call whose id is "outbound".
    const known = OPERATIONS.filter((operation) => operation.path === path);
    const allowed = known.map(({ method }) => method);
    if (allowed.includes('GET')) allowed.push('HEAD');
    for (const method of METHODS.filter((other) => !allowed.includes(other))) {
      const response = await world.api.request(method, pathOf({ path }, world.ids), {
        key: ADMIN_KEY,
      });

      const allow = response.headers.get('Allow');
      expect(allow, `${method} ${path}`).toBe([...new Set(allowed)].sort().join(', '));
      expect(await errorFaults(response, { status: 404, code: 'NOT_FOUND' })).toEqual([]);
    }
  }
});

test.each([
  ['JSON that is cut off', { text: '{"name":' }],
  ['no JSON at all', { text: 'hello' }],
  ['an empty body', { text: '' }],
  ['a list', { text: '[]' }],
  ['null', { text: 'null' }],
  ['no content type', { headers: { 'Content-Type': '' } }],
  ['a form', { headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }],
  ['plain text', { headers: { 'Content-Type': 'text/plain' } }],
  ['a body over 1 MiB', { text: `{"name":"${'x'.repeat(MEBIBYTE)}"}` }],
  ['a mebibyte of brackets', { text: '['.repeat(MEBIBYTE) }],
])('Every operation with a body answers 400 to %s', async (_case, options) => {
  const world = await openApiWorld();

  const expected = { status: 400, code: 'VALIDATION_ERROR' };
  await expectErrors(world, WITH_BODY, () => options, expected);
});

test.each([
  ['JSON that is cut off', '{bad', ''],
  ['a list', '[]', ''],
  ['an unknown field', '{"dryRun":true}', 'dryRun'],
])('Every POST without a body answers 400 to %s', async (_case, text, detail) => {
  const world = await openApiWorld();

  for (const headers of [{}, { 'Content-Type': '' }]) {
    for (const operation of WITHOUT_BODY) {
      const response = await ask(world, operation, { text, headers });

      const expected = { status: 400, code: 'VALIDATION_ERROR', detail };
      expect(await errorFaults(response, expected), operation.path).toEqual([]);
    }
  }
});

test('Every POST without a body takes an empty one, and an object with nothing in it', async () => {
  for (const operation of WITHOUT_BODY) {
    for (const text of ['', '{}']) {
      for (const headers of [{}, { 'Content-Type': '' }]) {
        const plain = await ask(await openApiWorld(), operation);

        const response = await ask(await openApiWorld(), operation, { text, headers });

        expect(response.status, `${operation.path} "${text}"`).toBe(plain.status);
        expect(response.status, `${operation.path} "${text}"`).not.toBe(400);
      }
    }
  }
});

test('Every POST and PATCH answers 400 to bytes that are no UTF-8', async () => {
  const world = await openApiWorld();
  const { api, ids } = world;
  const body = new Uint8Array([...Buffer.from('{"name":"'), 0xff, 0xc3, ...Buffer.from('"}')]);

  for (const operation of OPERATIONS.filter(({ method }) => ['POST', 'PATCH'].includes(method))) {
    const headers = {
      Authorization: `Bearer ${keyOf(operation)}`,
      'Content-Type': 'application/json',
    };
    const url = `http://localhost${pathOf(operation, ids)}`;

    const response = await api.fetch(new Request(url, { method: operation.method, headers, body }));

    expect(await response.clone().text(), operation.path).toContain('expected UTF-8');
    expect(await errorFaults(response, { status: 400, code: 'VALIDATION_ERROR' })).toEqual([]);
  }
});

test.each([
  ['a misspelt one', 'nmae'],
  ['one that only we set', 'createdAt'],
  ['__proto__', '__proto__'],
])('Every operation with a body answers 400 to an unknown field, naming it: %s', async (_case, field) => {
  const world = await openApiWorld();
  const options = (operation: Operation) => {
    const body = bodyOf(operation, DESCRIPTION, world.ids);
    return { text: JSON.stringify(body).replace('{', `{"${field}":1,`) };
  };

  const expected = { status: 400, code: 'VALIDATION_ERROR', detail: field };
  await expectErrors(world, WITH_BODY, options, expected);
});

test('Every operation answers 400 to an unknown query parameter, naming it', async () => {
  const world = await openApiWorld();

  const options = (operation: Operation) => ({ path: `${pathOf(operation, world.ids)}?sort=asc` });
  const expected = { status: 400, code: 'VALIDATION_ERROR', detail: 'sort' };
  await expectErrors(world, OPERATIONS, options, expected);
});

test('Every POST answers 400 to an idempotency key that is none', async () => {
  const world = await openApiWorld();
  const posts = OPERATIONS.filter(({ method }) => method === 'POST');

  const options = { headers: { 'X-Idempotency-Key': 'a b' } };
  const expected = { status: 400, code: 'VALIDATION_ERROR', detail: 'X-Idempotency-Key' };
  await expectErrors(world, posts, () => options, expected);
});

test('Every POST answers the same to a repeated request, marked as a replay', async () => {
  for (const operation of OPERATIONS.filter(({ method }) => method === 'POST')) {
    const world = await openApiWorld();
    const options = { headers: { 'X-Idempotency-Key': 'k1' } };

    const first = await ask(world, operation, options);
    const second = await ask(world, operation, options);

    const label = `${operation.method} ${operation.path}: ${await first.clone().text()}`;
    const replayed = second.headers.get('Idempotent-Replayed');
    expect([second.status, replayed], label).toEqual([first.status, 'true']);
    expect(first.headers.has('Idempotent-Replayed'), label).toBe(false);
  }
});

test('Every 201 says where the new resource is, to a repeated request as well', async () => {
  const creating = OPERATIONS.filter(({ docs }) => '201' in docs.responses);
  const headers = { 'X-Idempotency-Key': 'the-same' };
  expect(creating.length).toBeGreaterThan(2);

  for (const operation of creating) {
    const world = await openApiWorld();
    const first = await ask(world, operation, { headers });
    const second = await ask(world, operation, { headers });

    const made = (await first.json()) as { readonly id?: string; readonly name: string };
    const places = [first, second].map((response) => response.headers.get('Location'));
    const place = `${pathOf(operation, world.ids)}/${made.id ?? made.name}`;
    expect(places, operation.path).toEqual([place, place]);
  }
});

test('Every operation answers 429 to one request too many, with Retry-After', async () => {
  const world = await openApiWorld();
  world.api.store.rates.count = async () => 1_000_000;

  await expectErrors(world, OPERATIONS, () => ({}), { status: 429, code: 'RATE_LIMITED' });

  const response = await world.api.request('GET', '/api/agents');
  expect(response.headers.get('Retry-After')).toBe('3600');
});

test('Every operation answers 503 while the store fails, with Retry-After, and as before when it works again', async () => {
  const world = await openApiWorld();
  // The keys are cached from now on.
  await world.api.request('GET', '/api/agents', { key: ADMIN_KEY });
  await world.api.request('GET', '/api/agents', { key: SANDBOX_ADMIN_KEY });

  const repair = breakStore(world.api.store);
  const expected = { status: 503, code: 'SERVICE_UNAVAILABLE' };
  // Voices and language models are what the server has, trunks what the operator has set up: they lie in no store.
  const isStored = (path: string) => !/^\/api\/(voices|language-models|trunks)/.test(path);
  const stored = OPERATIONS.filter(({ path }) => isStored(path));
  await expectErrors(world, stored, () => ({}), expected);
  repair();

  expect((await world.api.request('GET', '/api/agents', { key: ADMIN_KEY })).status).toBe(200);
});

test('Every operation has every header also where nothing is wrong', async () => {
  for (const operation of OPERATIONS) {
    const world = await openApiWorld();

    const response = await ask(world, operation);

    const label = `${operation.method} ${operation.path}: ${await textOf(response)}`;
    expect(response.status, label).toBeLessThan(500);
    expect([...response.headers.keys()], label).toEqual(expect.arrayContaining(API_HEADERS));
    expect(Object.keys(operation.docs.responses), label).toContain(String(response.status));
  }
});
