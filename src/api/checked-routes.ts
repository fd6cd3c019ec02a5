/** Routes whose requests are checked against their schemas before their handlers see them. */
import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi';
import type { Handler, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { ZodType } from 'zod';
import type { ApiContext, ApiEnv } from './api-env.ts';
import { invalidInput } from './middleware/errors.ts';
import { parsedJson } from './parsed-json.ts';

type Route = RouteConfig & { readonly middleware?: MiddlewareHandler | MiddlewareHandler[] };

/**
 * Hono's routes with OpenAPI, but for one thing: their checks and their handler are one step. The library makes each
 * check a middleware of several promises, and together they took longer than most handlers.
 */
export class CheckedRoutes extends OpenAPIHono<ApiEnv> {
  override openapi = ((route: Route, handler: Handler<ApiEnv>) => {
    const { middleware = [], ...described } = route;
    this.openAPIRegistry.registerPath(described);
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    this.on([route.method], [path], ...[middleware].flat(), checked(route, handler));
    return this;
  }) as OpenAPIHono<ApiEnv>['openapi'];
}

/**
 * Gives the handler what the schemas made of query, path and body, as `context.req.valid` does.
 *
 * @throws {TypeError} for a route that describes more than these: nothing here would check it.
 */
function checked({ request = {} }: Route, handler: Handler<ApiEnv>): Handler<ApiEnv> {
  if (request.headers !== undefined || request.cookies !== undefined) {
    throw new TypeError('Cannot add a route: nothing checks its headers and cookies');
  }
  const query = request.query as ZodType | undefined;
  const params = request.params as ZodType | undefined;
  const body = bodySchema(request.body?.content);
  const checkUrl = (context: ApiContext) => {
    if (query !== undefined)
      check(context, { target: 'query', schema: query, value: queryOf(context) });
    if (params !== undefined)
      check(context, { target: 'param', schema: params, value: context.req.param() });
  };
  if (body === undefined) {
    return (context, next) => {
      checkUrl(context);
      return handler(context, next);
    };
  }
  return async (context, next) => {
    checkUrl(context);
    check(context, { target: 'json', schema: body, value: await bodyOf(context) });
    return handler(context, next);
  };
}

type BodyContent = NonNullable<NonNullable<RouteConfig['request']>['body']>['content'];

/** @throws {TypeError} when it is anything but one schema for JSON: nothing here would check it. */
function bodySchema(content: BodyContent | undefined): ZodType | undefined {
  if (content === undefined) return undefined;
  const [[type, media] = [], ...others] = Object.entries(content);
  const schema = media !== undefined && 'schema' in media ? media.schema : undefined;
  if (type !== 'application/json' || others.length > 0 || !(schema instanceof ZodType)) {
    throw new TypeError('Cannot add a route: its body is not JSON');
  }
  return schema;
}

function check(
  context: ApiContext,
  input: {
    readonly target: 'query' | 'param' | 'json';
    readonly schema: ZodType;
    readonly value: unknown;
  },
): void {
  const result = input.schema.safeParse(input.value);
  if (!result.success) throw invalidInput(input.target, result.error);
  context.req.addValidatedData(input.target, result.data as object);
}

/** A parameter that is there once is a text, one that is there several times a list. */
function queryOf(context: ApiContext): Record<string, string | string[]> {
  const entries = Object.entries(context.req.queries()).map(([name, values]) => {
    const [first = ''] = values;
    return [name, values.length === 1 ? first : values] as const;
  });
  return Object.fromEntries(entries);
}

const JSON_TYPE = /^application\/(?:[a-z.-]+\+)?json(?:;\s*[\w-]+=[^;]+)*$/i;

/** A request with neither a body nor a content type has an empty object for a body, so that the schema names what is missing. */
async function bodyOf(context: ApiContext): Promise<unknown> {
  const contentType = context.req.header('Content-Type') ?? '';
  const text = await context.req.text();
  if (contentType === '' && text === '') return {};
  if (!JSON_TYPE.test(contentType)) throw new HTTPException(415);
  return parsedJson(text);
}
