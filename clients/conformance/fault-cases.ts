/** Faults of servers and networks, and the error or value that every client makes of them. */
import { createHash } from 'node:crypto';
import type { Command } from './driver.ts';
import { CODE_CASES } from './error-kinds.ts';
import type { FaultCase } from './fault-case.ts';
import {
  cut,
  cutInBody,
  cutInHeaders,
  errorStep,
  json,
  type SeenRequest,
  silence,
  text,
  trickle,
} from './fault-server.ts';
import { PAGE_CASES } from './page-cases.ts';
import { STREAM_CASES } from './stream-cases.ts';

const AGENT = { id: 'agent_1', name: 'Réception ☎' };
const AT_ONCE = { 'Retry-After': '0' };

const good = json(200, AGENT);
const made = json(201, AGENT);
const busy = errorStep(503, 'SERVICE_UNAVAILABLE', AT_ONCE);

const CREATE: Command = { do: 'call', operation: 'agents.create', body: { name: 'Réception ☎' } };
const UPDATE: Command = {
  ...{ do: 'call', operation: 'agents.update' },
  ...{ path: ['agent_1'], body: { name: 'B' } },
};
const DOWNLOAD: Command = {
  ...{ do: 'call', operation: 'calls.downloadRecording' },
  ...{ path: ['call_1'], query: {} },
};

const BACK_OFF_MS_MIN = 240;

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function hasOneKey(seen: readonly SeenRequest[]): readonly string[] {
  const keys = new Set(seen.map(({ headers }) => headers['x-idempotency-key']));
  const [key] = keys;
  return keys.size === 1 && UUID_V4.test(String(key)) ? [] : [`keys: ${[...keys].join(', ')}`];
}

function waitsAtLeast(ms: number) {
  return ([first, second]: readonly SeenRequest[]): readonly string[] => {
    const waitedMs = (second?.atMs ?? 0) - (first?.atMs ?? 0);
    return waitedMs >= ms ? [] : [`waited ${waitedMs} ms instead of ${ms}`];
  };
}

const STATUS_CASES: readonly FaultCase[] = [
  {
    name: 'a code of a newer server',
    steps: [errorStep(409, 'NEWER_CODE')],
    expected: { kind: 'Conflict', code: 'NEWER_CODE', status: 409 },
    requests: 1,
  },
  {
    name: 'a status without a class of its own',
    steps: [text(418, 'short and stout')],
    expected: { kind: 'Api', status: 418, code: null },
    requests: 1,
  },
  {
    name: 'the wrong fields of a 400',
    steps: [errorStep(400, 'VALIDATION_ERROR', {}, [{ path: 'name', message: 'too long' }])],
    command: CREATE,
    expected: { kind: 'Validation', details: [{ path: 'name', message: 'too long' }] },
    requests: 1,
  },
  {
    name: 'a page of a proxy instead of an error',
    steps: [text(502, '<h1>Bad gateway</h1>', { 'Content-Type': 'text/html', ...AT_ONCE })],
    expected: { kind: 'Server', status: 502, code: null },
    requests: 3,
  },
  {
    name: '500, then the answer',
    steps: [errorStep(500, 'INTERNAL_ERROR', AT_ONCE), good],
    expected: { value: AGENT },
    requests: 2,
  },
];

const RETRY_CASES: readonly FaultCase[] = [
  {
    name: '429 that says when to come back',
    steps: [errorStep(429, 'RATE_LIMITED', { 'Retry-After': '1' }), good],
    expected: { value: AGENT },
    requests: 2,
    faultsOf: waitsAtLeast(950),
  },
  {
    name: '429 for the rest of the hour',
    steps: [errorStep(429, 'RATE_LIMITED', { 'Retry-After': '3000' })],
    expected: { kind: 'RateLimited', retryAfterSeconds: 3000 },
    requests: 1,
  },
  {
    name: '503 without a time, which backs off',
    steps: [errorStep(503, 'SERVICE_UNAVAILABLE'), good],
    expected: { value: AGENT },
    requests: 2,
    faultsOf: waitsAtLeast(BACK_OFF_MS_MIN),
  },
  {
    name: '503 twice, then the answer',
    steps: [busy, busy, good],
    expected: { value: AGENT },
    requests: 3,
  },
  {
    name: '503 that stays',
    steps: [busy],
    expected: { kind: 'ServiceUnavailable', retryAfterSeconds: 0 },
    requests: 3,
  },
  {
    name: 'Retry-After as a date that has passed',
    steps: [
      errorStep(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': 'Sat, 21 Nov 2026 08:00:00 GMT' }),
      good,
    ],
    expected: { value: AGENT },
    requests: 2,
  },
  {
    name: 'Retry-After that is neither',
    steps: [errorStep(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '-7' })],
    open: { maxRetries: 0 },
    expected: { kind: 'ServiceUnavailable', retryAfterSeconds: null },
    requests: 1,
  },
  {
    name: 'POST has the same key in each attempt',
    steps: [busy, cut, made],
    command: CREATE,
    expected: { value: AGENT },
    requests: 3,
    faultsOf: hasOneKey,
  },
  {
    name: 'POST whose first attempt still runs, then its replayed answer',
    steps: [
      errorStep(409, 'CONFLICT', AT_ONCE),
      json(201, AGENT, { 'Idempotent-Replayed': 'true' }),
    ],
    command: CREATE,
    expected: { value: AGENT },
    requests: 2,
    faultsOf: hasOneKey,
  },
  {
    name: 'POST that is a conflict for good',
    steps: [errorStep(409, 'CONFLICT')],
    command: CREATE,
    expected: { kind: 'Conflict' },
    requests: 1,
  },
  {
    name: "POST with the caller's own key",
    steps: [made],
    command: { ...CREATE, options: { idempotencyKey: 'order-7' } },
    expected: { value: AGENT },
    requests: 1,
    faultsOf: ([first]) => {
      const key = first?.headers['x-idempotency-key'];
      return key === 'order-7' ? [] : [`key ${key}`];
    },
  },
  {
    name: 'PATCH that was cut may have been carried out',
    steps: [cut],
    command: UPDATE,
    expected: { kind: 'ConnectionFailed' },
    requests: 1,
  },
  {
    name: 'PATCH that failed on the server may have been carried out',
    steps: [errorStep(500, 'INTERNAL_ERROR', AT_ONCE)],
    command: UPDATE,
    expected: { kind: 'Server' },
    requests: 1,
  },
  {
    name: 'PATCH that was refused is repeated',
    steps: [errorStep(429, 'RATE_LIMITED', AT_ONCE), good],
    command: { ...UPDATE, options: { ifMatch: '"1"' } },
    expected: { value: AGENT },
    requests: 2,
    faultsOf: (seen) => {
      const isKept = seen.every(({ headers }) => headers['if-match'] === '"1"');
      return isKept ? [] : ['an attempt has no If-Match'];
    },
  },
];

const NETWORK_CASES: readonly FaultCase[] = [
  {
    name: 'no answer',
    steps: [silence],
    open: { timeoutSeconds: 0.3, maxRetries: 0 },
    expected: { kind: 'RequestTimeout', status: null, code: null },
    requests: 1,
  },
  {
    name: 'no answer, then one',
    steps: [silence, good],
    // Within this a busy machine sends the answer.
    open: { timeoutSeconds: 1 },
    expected: { value: AGENT },
    requests: 2,
  },
  {
    name: 'a body that comes byte by byte',
    steps: [trickle(50)],
    open: { timeoutSeconds: 0.5, maxRetries: 0 },
    expected: { kind: 'RequestTimeout' },
    requests: 1,
  },
  {
    name: 'a cut connection, then the answer',
    steps: [cut, good],
    expected: { value: AGENT },
    requests: 2,
  },
  {
    name: 'connections that are cut each time',
    steps: [cut],
    open: { maxRetries: 1 },
    expected: { kind: 'ConnectionFailed', status: null },
    requests: 2,
  },
  {
    name: 'a cut in the headers',
    steps: [cutInHeaders],
    open: { maxRetries: 0 },
    expected: { kind: 'ConnectionFailed' },
    requests: 1,
  },
  {
    name: 'a cut in the body',
    steps: [cutInBody('{"id": "agent_1"')],
    open: { maxRetries: 0 },
    expected: { kind: 'ConnectionFailed' },
    requests: 1,
  },
  {
    name: 'a cut in the body, then the answer',
    steps: [cutInBody('{"id": "agent_1"'), good],
    expected: { value: AGENT },
    requests: 2,
  },
  {
    name: 'a cut in a download',
    steps: [cutInBody('RIFF', 'audio/wav')],
    open: { maxRetries: 0 },
    command: DOWNLOAD,
    expected: { kind: 'ConnectionFailed' },
    requests: 1,
  },
  {
    name: 'a server that is not there',
    steps: [good],
    // The discard port, where nothing listens.
    open: { baseUrl: 'http://127.0.0.1:9', maxRetries: 0 },
    expected: { kind: 'ConnectionFailed' },
    requests: 0,
  },
];

const BODY_CASES: readonly FaultCase[] = [
  {
    name: 'JSON that ends too early',
    steps: [text(200, '{"id": "agent_1"', { 'Content-Type': 'application/json' })],
    expected: { kind: 'InvalidResponse', status: 200 },
    requests: 1,
  },
  {
    name: 'another content type',
    steps: [text(200, '<h1>Welcome</h1>', { 'Content-Type': 'text/html' })],
    expected: { kind: 'InvalidResponse', status: 200 },
    requests: 1,
  },
  {
    name: 'an empty body',
    steps: [text(200, '', { 'Content-Type': 'application/json' })],
    expected: { kind: 'InvalidResponse', status: 200 },
    requests: 1,
  },
  {
    name: 'a body over the limit',
    steps: [json(200, { id: 'x'.repeat(5_000) })],
    open: { maxResponseBytes: 1_000 },
    expected: { kind: 'InvalidResponse', status: 200 },
    requests: 1,
  },
  {
    name: 'a redirect, which is not followed',
    steps: [text(302, '', { Location: '/elsewhere' }), good],
    expected: { kind: 'InvalidResponse', status: 302 },
    requests: 1,
  },
  {
    name: '204',
    steps: [text(204, '')],
    command: { do: 'call', operation: 'agents.delete', path: ['agent_1'] },
    expected: { value: null },
    requests: 1,
  },
  {
    name: 'a download that is no sound',
    steps: [text(200, '<h1>Welcome</h1>', { 'Content-Type': 'text/html' })],
    command: DOWNLOAD,
    expected: { kind: 'InvalidResponse', status: 200 },
    requests: 1,
  },
  {
    name: 'a download',
    steps: [text(200, 'RIFF', { 'Content-Type': 'audio/wav' })],
    command: DOWNLOAD,
    expected: {
      value: {
        ...{ contentType: 'audio/wav', sizeBytes: 4 },
        sha256: createHash('sha256').update('RIFF').digest('hex'),
      },
    },
    requests: 1,
  },
  {
    name: 'ids with any characters',
    steps: [good],
    command: { do: 'call', operation: 'agents.get', path: ['a/b?c#d é'] },
    expected: { value: AGENT },
    requests: 1,
    faultsOf: ([first]) => {
      return first?.url === '/api/agents/a%2Fb%3Fc%23d%20%C3%A9' ? [] : [`asked ${first?.url}`];
    },
  },
  {
    name: 'empty lists and objects in a body',
    steps: [made],
    command: { ...CREATE, body: { name: 'B', tools: [], settings: {}, extract: {} } },
    expected: { value: AGENT },
    requests: 1,
    faultsOf: ([first]) => {
      const { tools, settings, extract } = JSON.parse(first?.body ?? '{}');
      const found = JSON.stringify([tools, settings, extract]);
      return found === '[[],{},{}]' ? [] : [`sent ${found}`];
    },
  },
  {
    name: 'what every request says of itself',
    steps: [made],
    command: CREATE,
    expected: { value: AGENT },
    requests: 1,
    faultsOf: ([first]) => {
      const { authorization, accept, 'content-type': type, ...headers } = first?.headers ?? {};
      const isMarked = /^offhook-[a-z]+\/\d/.test(String(headers['user-agent']));
      const isSent = JSON.parse(first?.body ?? 'null')?.name === AGENT.name;
      return [
        ...(authorization === `Bearer ${FAULT_KEY}` ? [] : ['no key']),
        ...(String(accept).includes('application/json') ? [] : [`accepts ${accept}`]),
        ...(String(type).startsWith('application/json') ? [] : [`sends ${type}`]),
        ...(isMarked ? [] : [`agent ${headers['user-agent']}`]),
        ...(isSent ? [] : [`body ${first?.body}`]),
      ];
    },
  },
];

/** The key that clients have in fault cases; it must be in no message. */
export const FAULT_KEY = `svc_test_${'F'.repeat(32)}`;

export const FAULT_CASES: readonly FaultCase[] = [
  ...CODE_CASES,
  ...STATUS_CASES,
  ...RETRY_CASES,
  ...NETWORK_CASES,
  ...BODY_CASES,
  ...PAGE_CASES,
  ...STREAM_CASES,
];
