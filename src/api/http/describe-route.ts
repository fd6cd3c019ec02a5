/** Route descriptions: the OpenAPI operation with all that follows from method and path, and the guards of scope and body. */
import { createRoute, type RouteConfig } from '@hono/zod-openapi';
import type { ApiScope } from '../../domain/account/api-key.ts';
import type { Guard } from '../api-env.ts';
import { headerRefs } from '../openapi/common-components.ts';
import { type ErrorStatus, errorResponses } from '../schemas/error-schema.ts';
import { noQuery } from '../schemas/paging-schema.ts';
import { requireScope } from './access.ts';
import { unreadableBody } from './errors.ts';
import { noBody } from './request-body.ts';

/** As zod-openapi's route; `responses` are the successes. */
interface Operation<Path extends string>
  extends Omit<RouteConfig, 'path' | 'tags' | 'middleware' | 'hide'> {
  readonly path: Path;
  readonly tag: string;
  /** Which the key must have; without it, the handler decides who may ask. */
  readonly scope?: ApiScope;
  /** Comes before the key is asked for its scope. */
  readonly before?: Guard;
  /** Besides those of every route, and those that method and path bring along. */
  readonly errors?: readonly ErrorStatus[];
}

/**
 * Describes a route. Parameters of the query are refused where it names none, a body likewise; a route with a body
 * requires a JSON content type. Each POST takes an idempotency key.
 */
export function describeRoute<const Path extends string, Route extends Operation<Path>>(
  route: Route,
) {
  const { scope, before, errors = [], tag, ...operation } = route;
  const { method, path, request, parameters = [], responses } = operation;
  const isPost = method === 'post';
  const ofMethod: readonly ErrorStatus[] = isPost ? [409, 422] : [];
  const ofPath: readonly ErrorStatus[] = path.includes('{') ? [404] : [];
  const answers = { ...responses, ...errorResponses([...ofPath, ...ofMethod, ...errors]) };
  const ofBody = request?.body === undefined ? isPost && noBody : requireJson;
  const described = {
    security: scope && [{ bearer: [scope] }],
    ...operation,
    tags: [tag],
    request: { query: noQuery, ...request },
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => {
        const own = 'headers' in answer ? answer.headers : {};
        return [status, { ...answer, headers: { ...headerRefs(method, status), ...own } }];
      }),
    ),
    ...(isPost && { parameters: [...parameters, IDEMPOTENCY_KEY_REF] }),
    middleware: [before, scope && requireScope(scope), ofBody].filter((guard) => !!guard),
  };
  // What it adds changes no type that handlers see.
  return createRoute<Path, Route>(described as unknown as Route);
}

const IDEMPOTENCY_KEY_REF = { $ref: '#/components/parameters/IdempotencyKey' };

const JSON_TYPE = /^application\/(?:[a-z.-]+\+)?json(?:;\s*[\w-]+=[^;]+)*$/i;

/** A request with neither body nor content type passes: the schema then names the fields that are missing. */
const requireJson: Guard = (context, next) => {
  const contentType = context.req.header('content-type') ?? '';
  const isEmpty = contentType === '' && context.get('bodyText') === '';
  if (isEmpty || JSON_TYPE.test(contentType)) return next();
  throw unreadableBody('Content-Type', 'expected application/json');
};
