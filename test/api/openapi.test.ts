import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { API_SCOPES } from '../../src/domain/account/api-key.ts';
import {
  appointmentBookedEvent,
  callBridgedEvent,
  callEndedEvent,
  callStartedEvent,
  callTranscribedEvent,
} from '../../src/domain/call/call-events.ts';
import { ERROR_STATUS } from '../../src/domain/service-error.ts';
import {
  CUSTOMER_EVENT_KINDS,
  SERVICE_EVENT_KINDS,
} from '../../src/domain/webhook/service-event.ts';
import { testEvent } from '../../src/domain/webhook/webhook-endpoint.ts';
import { createHollowApi, readDescription } from '../support/api/api-description.ts';
import { faultsOf } from '../support/api/json-schema.ts';
import { followed, type JsonSchema, operationsOf } from '../support/api/openapi-description.ts';
import { openTestApi } from '../support/api/test-api.ts';
import { buildCall } from '../support/store/build-call.ts';
import { buildEndpoint } from '../support/webhook/webhook-world.ts';

const DESCRIPTION = await readDescription();

const OPERATIONS = operationsOf(DESCRIPTION);

const WEBHOOKS = Object.entries(DESCRIPTION.webhooks).map(([kind, methods]) => ({
  kind,
  docs: methods.post,
}));

/** Keywords of JSON Schema 2020-12 that our schemas may use. Others would pass the checks of these tests unseen. */
const KEYWORDS = [
  ...['$ref', 'type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf'],
  ...['properties', 'required', 'additionalProperties', 'propertyNames'],
  ...['minProperties', 'maxProperties', 'uniqueItems'],
  ...['items', 'minItems', 'maxItems', 'minLength', 'maxLength', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['default', 'example', 'description'],
];

const NOON = new Date('2026-11-20T12:00:00.000Z');

test('GET /api/openapi.json is OpenAPI 3.1, without a key', async () => {
  const api = await openTestApi();

  const response = await api.request('GET', '/api/openapi.json', { key: null });

  expect(response.status).toBe(200);
  expect(response.headers.get('Content-Type')).toBe('application/json');
  expect(DESCRIPTION.openapi).toBe('3.1.0');
  expect(DESCRIPTION.info).toMatchObject({ title: 'Offhook', version: '1.2.3' });
  expect(DESCRIPTION.servers).toEqual([{ url: 'https://voice.example' }]);
});

test('GET /api/openapi.json is compressed for clients that accept it', async () => {
  const headers = { 'Accept-Encoding': 'gzip' };

  const response = await createHollowApi().request('/api/openapi.json', { headers });

  expect(response.headers.get('Content-Encoding')).toBe('gzip');
  const body = gunzipSync(await response.arrayBuffer()).toString();
  expect(JSON.parse(body)).toEqual(DESCRIPTION);
});

test('The document tells when each error code is the answer', () => {
  for (const [code, status] of Object.entries(ERROR_STATUS)) {
    expect(DESCRIPTION.info.description).toMatch(
      new RegExp(`\\| \`${code}\` \\| ${status} \\| \\w`),
    );
  }
});

test('The document describes exactly the routes that are served', () => {
  const served = createHollowApi()
    .api.routes.filter(({ method, path }) => method !== 'ALL' && path.startsWith('/api/'))
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
    .filter((route) => route !== 'GET /api/openapi.json');

  const described = OPERATIONS.map(({ method, path }) => `${method} ${path}`);

  expect(described.length).toBeGreaterThan(15);
  expect(described.sort()).toEqual([...new Set(served)].sort());
});

test('Every operation has a name of its own, a group that is explained, and a summary', () => {
  const names = OPERATIONS.map(({ method, path, docs }) => docs.operationId ?? `${method} ${path}`);
  const groups = DESCRIPTION.tags.map(({ name }) => name);

  expect(names.filter((name) => !/^[a-z][A-Za-z]+$/.test(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  for (const { docs } of OPERATIONS) {
    expect(groups, docs.operationId).toContain(docs.tags?.[0]);
    expect(docs.summary, docs.operationId).toMatch(/^[A-Z]/);
  }
});

describe.each(OPERATIONS)('$method $path', (operation) => {
  const { method, path, docs, parameters, body } = operation;

  test('documents the errors that every route may answer with, and the scope of its key', () => {
    const own = body === undefined ? [] : ['400'];
    const ofId = path.includes('{') ? ['404'] : [];

    expect(Object.keys(docs.responses)).toEqual(
      expect.arrayContaining([...own, ...ofId, '401', '403', '429', '500', '503']),
    );
    const [scope, ...others] = docs.security?.[0]?.bearer ?? [];
    expect(API_SCOPES).toContain(scope);
    expect(others).toEqual([]);
  });

  test('documents the headers of every answer', () => {
    const always = ['X-Request-Id', 'X-API-Version', 'X-RateLimit-Limit'];

    for (const [status, { headers }] of Object.entries(docs.responses)) {
      const names = Object.keys(headers ?? {});
      expect(names).toEqual(expect.arrayContaining(always));
      expect(names.includes('Retry-After')).toBe(['429', '503'].includes(status));
      expect(names.includes('Location')).toBe(status === '201');
      for (const name of names) expect(DESCRIPTION.components.headers).toHaveProperty(name);
    }
  });

  test('documents each parameter of its path, and the idempotency key of a POST', () => {
    const inPath = parameters.filter((parameter) => parameter.in === 'path');
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);

    expect(inPath.map(({ name }) => name)).toEqual(names);
    expect(inPath.every(({ required }) => required)).toBe(true);
    expect(parameters.some(({ name }) => name === 'X-Idempotency-Key')).toBe(method === 'POST');
    if (method !== 'POST') return;
    expect(Object.keys(docs.responses)).toEqual(expect.arrayContaining(['400', '422']));
  });
});

describe('Schemas', () => {
  const roots: readonly JsonSchema[] = [
    ...Object.values(DESCRIPTION.components.schemas),
    ...OPERATIONS.flatMap(({ docs, parameters, body }) => [
      ...parameters.map(({ schema }) => schema),
      ...(body === undefined ? [] : [body]),
      ...Object.values(docs.responses).flatMap(({ content }) =>
        Object.values(content ?? {}).map(({ schema }) => schema),
      ),
    ]),
    ...WEBHOOKS.map(({ docs }) => docs?.requestBody?.content['application/json']?.schema ?? {}),
  ];

  const all = roots.flatMap(withParts);

  test('use no keyword that is unknown here', () => {
    const used = new Set(all.flatMap((schema) => Object.keys(schema)));

    expect(all.length).toBeGreaterThan(100);
    expect([...used].filter((keyword) => !KEYWORDS.includes(keyword))).toEqual([]);
  });

  test('refer only to what is there', () => {
    const references = all.filter(({ $ref }) => $ref !== undefined);

    expect(references.length).toBeGreaterThan(10);
    for (const reference of references) expect(followed(reference, DESCRIPTION)).toBeDefined();
  });

  test('require only fields that they have, and have patterns that compile', () => {
    for (const { properties = {}, required = [], pattern } of all) {
      expect(Object.keys(properties)).toEqual(expect.arrayContaining([...required]));
      if (pattern !== undefined) expect(() => new RegExp(pattern, 'u')).not.toThrow();
    }
  });

  test('have examples and defaults that fit them', () => {
    for (const schema of all) {
      const { example, default: byDefault } = schema;
      for (const value of [example, byDefault]) {
        if (value !== undefined) expect(faultsOf(value, schema, DESCRIPTION)).toEqual([]);
      }
    }
  });
});

test('A new agent must have a name, a greeting and a prompt', () => {
  expect(DESCRIPTION.components.schemas.CreateAgent?.required).toEqual([
    'name',
    'greeting',
    'systemPrompt',
  ]);
});

test('The events are the webhooks, the test event too', () => {
  expect(WEBHOOKS.map(({ kind }) => kind)).toEqual([...CUSTOMER_EVENT_KINDS, 'webhook.test']);
});

test('Each event as it is made fits its documentation', () => {
  const call = buildCall({ answeredAt: NOON, endedAt: NOON, endReason: 'busy', status: 'failed' });
  const stamp = { id: 'evt_1', now: NOON };
  const appointment = {
    ...{ id: 'appt_1', title: 'Visit', startTime: NOON, endTime: NOON, calendarId: 'c' },
    ...{ attendeePhone: '+390612345678', attendeeName: 'Ann', confirmed: true },
  };
  const bridge = { bridgedTo: '+390612345678', bridgedAt: NOON, qualificationSummary: 'Sales.' };
  const transcript = [{ role: 'user', text: 'Hello', at: NOON, confidence: 0.5 }] as const;
  const events = [
    callStartedEvent(call, stamp),
    callEndedEvent(call, stamp),
    callTranscribedEvent(call, { transcript, recordingUrl: '' }, stamp),
    callTranscribedEvent(
      { ...call, recordingTruncated: true },
      { transcript, recordingUrl: 'https://voice.example/call_1' },
      stamp,
    ),
    appointmentBookedEvent(call, appointment, stamp),
    callBridgedEvent(call, { ...bridge, agentRole: 'left' }, stamp),
    testEvent(buildEndpoint(), stamp),
  ];

  const kinds = new Set(events.map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual([...SERVICE_EVENT_KINDS].sort());
  for (const { kind, body } of events) {
    const schema = DESCRIPTION.webhooks[kind]?.post?.requestBody?.content['application/json'];
    expect(faultsOf(JSON.parse(body), schema?.schema ?? {}, DESCRIPTION)).toEqual([]);
  }
});

/** A schema and all that lie in it. */
function withParts(schema: JsonSchema): readonly JsonSchema[] {
  const { additionalProperties, items, propertyNames } = schema;
  const parts = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.allOf ?? []),
    ...(items === undefined ? [] : [items]),
    ...(propertyNames === undefined ? [] : [propertyNames]),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ];
  return [schema, ...parts.flatMap(withParts)];
}
