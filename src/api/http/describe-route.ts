/** Route descriptions: OpenAPI operation, guards, and the content type of the body. */
import { createRoute, type RouteConfig } from '@hono/zod-openapi';
import type { Guard } from '../api-env.ts';
import { unreadableBody } from './parsed-json.ts';

const JSON_TYPE = /^application\/(?:[a-z.-]+\+)?json(?:;\s*[\w-]+=[^;]+)*$/i;

/** A request with neither body nor content type passes: the schema then names the fields that are missing. */
const requireJson: Guard = (context, next) => {
  const contentType = context.req.header('content-type') ?? '';
  const isEmpty = contentType === '' && context.get('bodyText') === '';
  if (isEmpty || JSON_TYPE.test(contentType)) return next();
  throw unreadableBody('Content-Type', 'expected application/json');
};

/** As zod-openapi's `createRoute`; a route with a body also requires a JSON content type. */
export function describeRoute<const Path extends string, Route extends RouteOf<Path>>(
  route: Route,
) {
  if (route.request?.body === undefined) return createRoute<Path, Route>(route);
  const guards = [route.middleware ?? []].flat();
  return createRoute<Path, Route>({ ...route, middleware: [...guards, requireJson] });
}

type RouteOf<Path extends string> = Omit<RouteConfig, 'path'> & { path: Path };
