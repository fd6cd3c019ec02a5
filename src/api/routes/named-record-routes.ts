/** Lists, makes, shows, changes and deletes the records of a kind that customers name: the same five routes for each kind. */
import type { z } from '@hono/zod-openapi';
import type { ApiScope } from '../../domain/account/api-key.ts';
import type { Scope } from '../../domain/agent/agent.ts';
import type { NamedStore } from '../../domain/named-store.ts';
import type { Stores } from '../../domain/stores.ts';
import { type ApiApp, type ApiContext, type ApiDeps, scopeOf } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import {
  describeRoute,
  jsonBody,
  jsonResponse,
  TAKES_IF_MATCH,
  taggedResponse,
} from '../http/describe-route.ts';
import { entityTag, requireMatch } from '../http/entity-tag.ts';
import { existing } from '../http/errors.ts';
import { pageOf, pageQuerySchema } from '../schemas/query-schemas.ts';

/** Documentation of a route: its summary, description and success. */
interface Words {
  readonly summary: string;
  readonly description?: string;
  /** Meaning of its success. */
  readonly success: string;
}

/** One kind of records with names. */
interface Kind<Item, Draft, Patch> {
  /** Noun of the resource in messages. */
  readonly noun: 'tool' | 'MCP server' | 'SMS gateway' | 'calendar';
  /** Begins the names of operations and schemas, and ends in `s` where they mean several: `Tool`. */
  readonly name: string;
  readonly path: string;
  /** Parameter of the path. */
  readonly param: string;
  readonly tag: string;
  readonly readScope: ApiScope;
  readonly writeScope: ApiScope;
  readonly words: Readonly<Record<'list' | 'create' | 'get' | 'update' | 'delete', Words>>;
  readonly createSchema: z.ZodType<Draft>;
  readonly patchSchema: z.ZodType<Patch>;
  readonly schema: z.ZodObject;
  readonly storeOf: (stores: NamedStores) => NamedStore<Item>;
  readonly create: (draft: Draft, facts: { readonly scope: Scope; readonly now: Date }) => Item;
  readonly patch: (item: Item, patch: Patch, now: Date) => Item;
  /** Comes before a record is made or changed. @throws {ServiceError} where it must not be. */
  readonly check?: (item: Item) => Promise<void>;
  /** Comes after a record was made or changed. */
  readonly saved?: (item: Item) => void;
  /** @param context of a request that only reads. */
  readonly view: (item: Item, context?: ApiContext) => Readonly<Record<string, unknown>>;
}

type NamedStores = Pick<Stores, 'calendars' | 'customTools' | 'mcpServers' | 'smsGateways'>;

type Named = Scope & { readonly name: string; readonly updatedAt: Date };

/** Adds the five routes of a kind. */
export function addNamedRecordRoutes<Item extends Named, Draft, Patch>(
  api: ApiApp,
  deps: ApiDeps,
  kind: Kind<Item, Draft, Patch>,
): void {
  const routes = describeRoutes(kind);
  addReadsAndCreation(api, deps, kind, routes);
  addChanges(api, deps, kind, routes);
}

type Routes<Item, Draft, Patch> = ReturnType<typeof describeRoutes<Item, Draft, Patch>>;

function addReadsAndCreation<Item extends Named, Draft, Patch>(
  api: ApiApp,
  deps: ApiDeps,
  kind: Kind<Item, Draft, Patch>,
  routes: Routes<Item, Draft, Patch>,
): void {
  const { check, saved, storeOf, view } = kind;

  api.openapi(routes.list, async (context) => {
    const { limit, offset } = context.req.valid('query');
    const { items: records, total } = await storeOf(deps).list(scopeOf(context), { limit, offset });
    const data = records.map((record) => view(record, context));
    return context.json({ data, total, limit, offset }, 200);
  });

  api.openapi(routes.get, async (context) => {
    const item = await namedRecordOf(deps, context, kind);
    context.header('ETag', entityTag(item.updatedAt));
    return context.json(view(item, context), 200);
  });

  api.openapi(routes.create, async (context) => {
    const draft = context.req.valid('json');
    const scope = scopeOf(context);
    return answerOnce(context, deps, {
      work: async (commit) => {
        const item = kind.create(draft, { scope, now: deps.clock.now() });
        await check?.(item);
        const answer = await commit(async (stores) => {
          await storeOf(stores).insert(item);
          return { status: 201, body: view(item) };
        });
        saved?.(item);
        return answer;
      },
      etag: ({ updatedAt }) => entityTag(String(updatedAt)),
    });
  });
}

function addChanges<Item extends Named, Draft, Patch>(
  api: ApiApp,
  deps: ApiDeps,
  kind: Kind<Item, Draft, Patch>,
  routes: Routes<Item, Draft, Patch>,
): void {
  const { check, noun, saved, storeOf, view } = kind;

  api.openapi(routes.update, async (context) => {
    const now = deps.clock.now();
    const patched = async (stores: NamedStores) => {
      const item = await namedRecordOf(stores, context, kind);
      requireMatch(context, item.updatedAt, `the ${noun}`);
      return kind.patch(item, context.req.valid('json'), now);
    };
    // A check may wait for what is no query, so it comes before the transaction.
    if (check !== undefined) await check(await patched(deps));
    const changed = await deps.transaction(async (stores) => {
      const item = await patched(stores);
      await storeOf(stores).update(item);
      return item;
    });
    saved?.(changed);
    context.header('ETag', entityTag(changed.updatedAt));
    return context.json(view(changed), 200);
  });

  api.openapi(routes.delete, async (context) => {
    await deps.transaction(async (stores) => {
      const item = await namedRecordOf(stores, context, kind);
      requireMatch(context, item.updatedAt, `the ${noun}`);
      await storeOf(stores).delete(item, item.name, deps.clock.now());
    });
    return context.body(null, 204);
  });
}

/** @throws {ServiceError} NOT_FOUND when no record has the name in the path. */
export async function namedRecordOf<Item>(
  stores: NamedStores,
  context: ApiContext,
  kind: Pick<Kind<Item, never, never>, 'noun' | 'param' | 'storeOf'>,
): Promise<Item> {
  const name = context.req.param(kind.param) ?? '';
  return existing(await kind.storeOf(stores).find(scopeOf(context), name), kind.noun);
}

function describeRoutes<Item, Draft, Patch>(kind: Kind<Item, Draft, Patch>) {
  const { name, param, path, schema, tag, words } = kind;
  const reads = { tag, scope: kind.readScope };
  const writes = { tag, scope: kind.writeScope };
  const itemPath = `${path}/{${param}}`;
  const documented = ({ success: _, ...documentation }: Words) => documentation;
  const pageSchema = pageOf(schema).openapi(`${name}Page`);
  return {
    list: describeRoute('get', path, {
      ...reads,
      ...documented(words.list),
      operationId: `list${name}s`,
      request: { query: pageQuerySchema },
      responses: { 200: jsonResponse(words.list.success, pageSchema) },
    }),
    create: describeRoute('post', path, {
      ...writes,
      ...documented(words.create),
      operationId: `create${name}`,
      request: { body: jsonBody(kind.createSchema) },
      responses: { 201: taggedResponse(words.create.success, schema) },
    }),
    get: describeRoute('get', itemPath, {
      ...reads,
      ...documented(words.get),
      operationId: `get${name}`,
      responses: { 200: taggedResponse(words.get.success, schema) },
    }),
    update: describeRoute('patch', itemPath, {
      ...writes,
      ...documented(words.update),
      ...TAKES_IF_MATCH,
      operationId: `update${name}`,
      request: { body: jsonBody(kind.patchSchema) },
      responses: { 200: taggedResponse(words.update.success, schema) },
      errors: [412, 422],
    }),
    delete: describeRoute('delete', itemPath, {
      ...writes,
      ...documented(words.delete),
      ...TAKES_IF_MATCH,
      operationId: `delete${name}`,
      responses: { 204: { description: words.delete.success } },
      errors: [409, 412],
    }),
  };
}
