/** The routes of the interface: each with its guards, and with the schemas that its requests are checked against. */
import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi';
import { ZodType } from 'zod';
import type { ApiContext, Guard } from '../api-env.ts';
import type { ApiAnswer } from './api-answer.ts';
import { invalidInput } from './errors.ts';
import { parsedJson, unreadableBody } from './parsed-json.ts';
import { plainMessage } from './plain-message.ts';
import { queryOf } from './query-text.ts';
import type { Given, RequestContext } from './request-context.ts';
import { type Found, RouteTree } from './route-tree.ts';
import type { AnswerOf, DescribedRoute, RouteContext } from './route-types.ts';

/** What is done for a request, when its guards have let it through. */
export interface Route {
  /** Such as `/api/calls/{callId}`: for log and metrics, where ids must not be. */
  readonly path: string;
  /** Those of its prefix, and then its own. */
  readonly guards: readonly Guard[];
  readonly answer: (context: RequestContext) => ApiAnswer | Promise<ApiAnswer>;
}

type Handler = (context: ApiContext) => ApiAnswer | Promise<ApiAnswer>;

export class CheckedRoutes {
  /** Writes the OpenAPI document; serves nothing. */
  readonly description = new OpenAPIHono();
  /** Every route, with all that it passes. */
  readonly all: (Pick<Route, 'path' | 'guards'> & { readonly method: string })[] = [];
  readonly #tree = new RouteTree<Route>();
  readonly #guards: { readonly prefix: string; readonly guard: Guard }[] = [];

  /**
   * Puts a guard before all paths below `prefix`, such as `/api`, and before itself.
   *
   * @throws {TypeError} when there are routes below it already: they would go unguarded.
   */
  guard(prefix: string, guard: Guard): void {
    if (this.all.some(({ path }) => isBelow(prefix, path))) {
      throw new TypeError(`Cannot guard "${prefix}": it has routes already`);
    }
    this.#guards.push({ prefix, guard });
  }

  /** Adds a route that is described and checked. @throws {TypeError} when it describes what nothing here would check. */
  openapi<Described extends DescribedRoute>(
    route: Described,
    handler: (
      context: RouteContext<Described>,
    ) => AnswerOf<Described> | Promise<AnswerOf<Described>>,
  ): void {
    const { guards = [], ...described } = route;
    this.description.openAPIRegistry.registerPath(described as RouteConfig);
    // The check gives the handler what its type says.
    const answer = checked(route, handler as (context: RequestContext) => ApiAnswer);
    this.#add(route.method, { path: route.path, guards, answer });
  }

  /** Adds a route that is no part of the document. */
  get(path: string, handler: Handler): void {
    this.#add('get', { path, guards: [], answer: handler });
  }

  /** As `get`. */
  post(path: string, ...steps: readonly [...guards: Guard[], handler: Handler]): void {
    const answer = steps.at(-1) as Handler;
    this.#add('post', { path, guards: steps.slice(0, -1) as Guard[], answer });
  }

  find(method: string, path: string): Found<Route> | undefined {
    // RFC 9110, 9.3.2: HEAD is GET without the body.
    return this.#tree.find(method === 'HEAD' ? 'GET' : method, path);
  }

  /** The methods that a path knows, for the `Allow` header. */
  methodsOf(path: string): readonly string[] {
    return this.#tree.methodsOf(path);
  }

  /** The guards of paths without a route. */
  guardsOf(path: string): readonly Guard[] {
    return this.#guards.filter(({ prefix }) => isBelow(prefix, path)).map(({ guard }) => guard);
  }

  #add(method: string, route: Route): void {
    const { path } = route;
    const guards = [...this.guardsOf(path), ...route.guards];
    this.#tree.add(method.toUpperCase(), path, { ...route, guards });
    this.all.push({ method, path, guards });
  }
}

function isBelow(prefix: string, path: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

/**
 * Gives the handler what the schemas made of query, path and body.
 *
 * @throws {TypeError} for a route that describes more than these: nothing here would check it.
 */
function checked(
  { request = {} }: DescribedRoute,
  handler: (context: RequestContext) => ApiAnswer | Promise<ApiAnswer>,
): Route['answer'] {
  if (request.headers !== undefined || request.cookies !== undefined) {
    throw new TypeError('Cannot add a route: nothing checks its headers and cookies');
  }
  const query = request.query as ZodType | undefined;
  const params = request.params as ZodType | undefined;
  const body = bodySchema(request.body?.content);
  return (context) => {
    const { given } = context;
    if (query !== undefined) {
      given.query = check('query', query, queryOf(context.request.queryText));
    }
    if (params !== undefined) given.param = check('param', params, context.params);
    if (body !== undefined) given.json = check('json', body, bodyOf(context));
    return handler(context);
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

function check(target: keyof Given, schema: ZodType, value: unknown): unknown {
  const result = schema.safeParse(value, { error: plainMessage });
  if (!result.success) throw invalidInput(target, result.error);
  return result.data;
}

const JSON_TYPE = /^application\/(?:[a-z.-]+\+)?json(?:;\s*[\w-]+=[^;]+)*$/i;

/** A request with neither a body nor a content type has an empty object for a body, so that the schema names what is missing. */
function bodyOf({ request, bodyText }: ApiContext): unknown {
  const contentType = request.header('content-type') ?? '';
  if (contentType === '' && bodyText === '') return {};
  if (!JSON_TYPE.test(contentType)) {
    throw unreadableBody('Content-Type', 'expected application/json');
  }
  return parsedJson(bodyText);
}
