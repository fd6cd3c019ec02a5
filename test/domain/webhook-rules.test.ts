import { describe, expect, test } from 'vitest';
import {
  createEndpoint,
  type EndpointPatch,
  patchEndpoint,
  testEvent,
  type WebhookEndpoint,
} from '../../src/domain/webhook/webhook-endpoint.ts';

const NOON = new Date('2026-11-20T12:00:00.000Z');

const LATER = new Date('2026-11-20T12:00:05.000Z');

const SCOPE = { accountId: 'acct_1', environment: 'test' } as const;

const urlRules = { allowLocal: false, allowPrivate: false };

function create(fields: { readonly url?: string } = {}): WebhookEndpoint {
  const draft = { url: 'https://example.com/hook', events: ['call.ended'], ...fields } as const;
  return createEndpoint(draft, { id: 'we_1', scope: SCOPE, now: NOON, urlRules });
}

function patch(endpoint: WebhookEndpoint, fields: EndpointPatch, now = LATER): WebhookEndpoint {
  return patchEndpoint(endpoint, fields, { now, urlRules });
}

test('createEndpoint makes an active endpoint of its scope', () => {
  expect(create()).toEqual({
    id: 'we_1',
    accountId: 'acct_1',
    environment: 'test',
    url: 'https://example.com/hook',
    events: ['call.ended'],
    description: '',
    status: 'active',
    disabledReason: null,
    createdAt: NOON,
    updatedAt: NOON,
  });
});

test.each([
  ['http', 'http://example.com/hook', 'VALIDATION_ERROR'],
  ['a private address', 'https://10.0.0.1/hook', 'UNPROCESSABLE'],
])('createEndpoint and patchEndpoint refuse %s', (_case, url, code) => {
  expect(() => create({ url })).toThrow(expect.objectContaining({ code }));
  expect(() => patch(create(), { url })).toThrow(expect.objectContaining({ code }));
});

describe('patchEndpoint', () => {
  test('changes the fields that are there, and no others', () => {
    const changed = patch(create(), { events: ['call.started'], description: 'till' });

    expect(changed).toEqual({
      ...create(),
      events: ['call.started'],
      description: 'till',
      updatedAt: LATER,
    });
  });

  test('takes an empty description for a description', () => {
    const described = patch(create(), { description: 'till' });

    expect(patch(described, { description: '' }).description).toBe('');
  });

  test('forgets why the server disabled the endpoint when it becomes active', () => {
    const disabled = { ...create(), status: 'disabled', disabledReason: 'it failed' } as const;

    const described = patch(disabled, { description: 'till' });
    const revived = patch(disabled, { status: 'active' });

    expect(described.disabledReason).toBe('it failed');
    expect(revived).toMatchObject({ status: 'active', disabledReason: null });
  });

  test('gives each change a time of its own', () => {
    const twice = patch(patch(create(), { description: 'a' }, NOON), { description: 'b' }, NOON);

    expect(twice.updatedAt.getTime()).toBe(NOON.getTime() + 2);
  });

  test('changes nothing for the status that the endpoint has', () => {
    const disabled = { ...create(), status: 'disabled', disabledReason: 'it failed' } as const;

    const same = patch(disabled, { status: 'disabled' });
    const described = patch(disabled, { status: 'disabled', description: 'till' });

    expect(same).toEqual(disabled);
    expect(described).toEqual({ ...disabled, description: 'till', updatedAt: LATER });
  });

  test.each([
    ['nothing', {}, 'VALIDATION_ERROR'],
    ['only what is undefined', { url: undefined }, 'VALIDATION_ERROR'],
  ] as const)('refuses %s', (_case, fields, code) => {
    expect(() => patch(create(), fields)).toThrow(expect.objectContaining({ code }));
  });
});

describe('testEvent', () => {
  test('is an envelope like any other, of a kind of its own', () => {
    const event = testEvent(create(), { id: 'evt_1', now: LATER });

    expect(event).toMatchObject({ ...SCOPE, id: 'evt_1', kind: 'webhook.test', callId: null });
    expect(JSON.parse(event.body)).toEqual({
      event: 'webhook.test',
      id: 'evt_1',
      createdAt: LATER.toISOString(),
      data: { endpointId: 'we_1' },
    });
  });

  test('is refused for a disabled endpoint', () => {
    const make = () => testEvent({ ...create(), status: 'disabled' }, { id: 'evt_1', now: LATER });

    expect(make).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
  });
});
