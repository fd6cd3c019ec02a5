import { expect, test } from 'vitest';
import { openTestApi } from '../support/test-api.ts';

interface Operation {
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security?: readonly object[];
}

interface Description {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly required: string[] }>>;
  };
}

async function readDescription(): Promise<Description> {
  const api = await openTestApi();
  const response = await api.request('GET', '/api/openapi.json', { key: null });
  expect(response.status).toBe(200);
  return (await response.json()) as Description;
}

test('GET /api/openapi.json is OpenAPI 3.1, without a key', async () => {
  const description = await readDescription();

  expect(description.openapi).toBe('3.1.0');
  expect(description.servers).toEqual([{ url: 'https://voice.example' }]);
});

test('GET /api/openapi.json describes exactly the routes that are served', async () => {
  const { paths } = await readDescription();

  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );

  expect(operations.sort()).toEqual([
    'DELETE /api/agents/{agentId}',
    'GET /api/agents',
    'GET /api/agents/{agentId}',
    'GET /api/calls',
    'GET /api/calls/{callId}',
    'GET /api/calls/{callId}/events',
    'GET /api/calls/{callId}/recording',
    'PATCH /api/agents/{agentId}',
    'POST /api/agents',
  ]);
});

test('GET /api/openapi.json documents the errors that every route may answer with', async () => {
  const { paths } = await readDescription();

  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    expect(Object.keys(operation.responses)).toEqual(
      expect.arrayContaining(['401', '403', '429', '500', '503']),
    );
    expect(operation.security).toContainEqual({ bearer: [] });
  }
});

test('GET /api/openapi.json says what a new agent must have', async () => {
  const { components } = await readDescription();

  expect(components.schemas.CreateAgent?.required).toEqual(['name', 'greeting', 'systemPrompt']);
});
