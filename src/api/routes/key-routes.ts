/** `/api/keys`: lists, makes and revokes API keys. */

import { z } from '@hono/zod-openapi';
import type { Environment } from '../../domain/account/account.ts';
import {
  API_SCOPES,
  createApiKey,
  environmentsManagedBy,
  hashOfKey,
} from '../../domain/account/api-key.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiApp, type ApiContext, type ApiDeps, callerOf } from '../api-env.ts';
import type { KeyCache } from '../http/access.ts';
import { answerOnce } from '../http/answer-once.ts';
import { jsonBody, jsonResponse, pageResponse, routesOf } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';
import { allDifferent, words } from '../schemas/agent-schemas.ts';
import { PAGE_LIMIT, pagingFields } from '../schemas/query-schemas.ts';
import { viewOf } from '../serializers.ts';

const NAME_CHARS_MAX = 120;

const environment = z.enum(['live', 'test']);

const scope = z.enum(API_SCOPES);

const timestamp = z.iso.datetime();

const createKeySchema = z
  .strictObject({
    name: words(NAME_CHARS_MAX).openapi({ example: 'Booking site' }),
    environment: environment.optional().openapi({
      description: "The calling key's own unless given. A test key cannot make live ones.",
    }),
    scopes: z
      .array(scope)
      .min(1)
      .max(API_SCOPES.length)
      .refine(allDifferent, 'scopes must differ')
      .optional()
      .openapi({ uniqueItems: true, description: 'Everything but `admin` unless given.' }),
  })
  .openapi('CreateKey');

const fields = {
  id: z.string().openapi({ example: 'key_0VbZOZK8iLGcXSKvcmQMdaX5' }),
  name: z.string(),
  environment,
  prefix: z.string().openapi({ example: 'svc_live_' }),
  lastFour: z.string().openapi({ example: '7Qx2' }),
  scopes: z.array(scope),
  createdAt: timestamp,
  lastUsedAt: timestamp.nullable().openapi({ description: 'To the minute; null when never used.' }),
  revokedAt: timestamp.nullable().openapi({ description: 'null while the key is good.' }),
};

const keySchema = z.object(fields).openapi('Key');

const createdKeySchema = z
  .object({
    ...fields,
    key: z.string().nullable().openapi({
      description:
        'The whole key, here and never again: keep it safe. null when the answer is a replay.',
      example: 'svc_live_0aVbZOZK8iLGcXSKvcmQMdaX5h2Tq7Qx2',
    }),
  })
  .openapi('CreatedKey');

const keyQuerySchema = z.strictObject({
  ...pagingFields(PAGE_LIMIT),
  environment: environment.optional().openapi({
    param: { description: 'Only keys of this environment; otherwise all that the key manages.' },
  }),
});

const adminRoute = routesOf({ tag: 'Keys', scope: 'admin' });

const listRoute = adminRoute('get', '/api/keys', {
  operationId: 'listKeys',
  summary: 'Lists API keys, newest first',
  description:
    "Revoked ones too. A live key sees the account's keys of both environments, a test key those of the sandbox.",
  request: { query: keyQuerySchema },
  responses: { 200: pageResponse('A page of keys.', 'KeyPage', keySchema) },
});

const newRoute = adminRoute('post', '/api/keys', {
  operationId: 'createKey',
  summary: 'Makes an API key, and shows it this once',
  description:
    'At most 100 keys that are not revoked an environment (409). Only a hash of the key is kept.',
  request: { body: jsonBody(createKeySchema) },
  responses: { 201: jsonResponse('The key was made.', createdKeySchema) },
});

const deleteRoute = adminRoute('delete', '/api/keys/{keyId}', {
  operationId: 'revokeKey',
  summary: 'Revokes an API key',
  description:
    'It stops at once, and stays in the list. A key may revoke itself, and one that is revoked stays so.',
  responses: { 204: { description: 'The key is revoked.' } },
});

/** Adds `/api/keys`: makes, lists and revokes API keys; a revoked one leaves the cache at once. */
export function addKeyRoutes(api: ApiApp, deps: ApiDeps, keys: KeyCache): void {
  const { apiKeys, clock, newId, random } = deps;

  api.openapi(listRoute, async (context) => {
    const { limit, offset, environment } = context.req.valid('query');
    const { accountId } = callerOf(context).apiKey;
    const environments =
      environment === undefined ? managedBy(context) : [manageable(context, environment)];
    const page = await apiKeys.page(accountId, { environments, limit, offset });
    const data = page.items.map((apiKey) => viewOf(keySchema, apiKey));
    return context.json({ data, total: page.total, limit, offset }, 200);
  });

  api.openapi(newRoute, async (context) => {
    const draft = context.req.valid('json');
    const { accountId, environment: own } = callerOf(context).apiKey;
    const environment = manageable(context, draft.environment ?? own);
    return answerOnce(context, deps, {
      work: async (commit) => {
        const scope = { accountId, environment };
        const made = { id: newId('key'), scope, now: clock.now(), random };
        const { apiKey, keyText } = createApiKey(draft, made);
        return commit(async (stores) => {
          await stores.apiKeys.insert(apiKey, hashOfKey(keyText));
          return { status: 201, body: viewOf(createdKeySchema, { ...apiKey, key: keyText }) };
        });
      },
      keep: (body) => ({ ...body, key: null }),
    });
  });

  api.openapi(deleteRoute, async (context) => {
    const { accountId } = callerOf(context).apiKey;
    const apiKey = await apiKeys.find(accountId, context.req.valid('param').keyId);
    // The same words for a key that never was, of another account, or out of reach.
    const isManaged = apiKey !== undefined && managedBy(context).includes(apiKey.environment);
    const { id, environment } = existing(isManaged ? apiKey : undefined, 'key');
    await apiKeys.revoke({ accountId, environment }, id, clock.now());
    keys.forget(id);
    return context.body(null, 204);
  });
}

function managedBy(context: ApiContext): readonly Environment[] {
  return environmentsManagedBy(callerOf(context).apiKey);
}

/** @throws {ServiceError} FORBIDDEN when the key does not manage keys of the environment. */
function manageable(context: ApiContext, environment: Environment): Environment {
  if (!managedBy(context).includes(environment)) {
    throw new ServiceError('FORBIDDEN', 'Cannot manage live keys: this API key is a test key');
  }
  return environment;
}
