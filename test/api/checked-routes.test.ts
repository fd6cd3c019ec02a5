import { createRoute, z } from '@hono/zod-openapi';
import { expect, onTestFinished, test } from 'vitest';
import { CheckedRoutes } from '../../src/api/http/checked-routes.ts';
import { HttpServer } from '../../src/api/http/http-server.ts';
import { createHollowApi } from '../support/api-description.ts';
import { FakeClock } from '../support/fake-clock.ts';

test('CheckedRoutes refuses a route whose body is not JSON, as nobody would check it', () => {
  const route = createRoute({
    method: 'post',
    path: '/upload',
    request: { body: { content: { 'multipart/form-data': { schema: z.object({}) } } } },
    responses: { 204: { description: 'Taken.' } },
  });
  const routes = new CheckedRoutes();

  expect(() => routes.openapi(route, (context) => context.body(null, 204))).toThrow(
    new TypeError('Cannot add a route: its body is not JSON'),
  );
});

test.each(['headers', 'cookies'])('CheckedRoutes refuses a route that describes %s', (part) => {
  const route = createRoute({
    method: 'get',
    path: '/one',
    request: { [part]: z.object({ one: z.string() }) },
    responses: { 204: { description: 'Taken.' } },
  });
  const routes = new CheckedRoutes();

  expect(() => routes.openapi(route, (context) => context.body(null, 204))).toThrow(
    new TypeError('Cannot add a route: nothing checks its headers and cookies'),
  );
});

test('CheckedRoutes refuses a guard that comes after routes of its prefix', () => {
  const routes = new CheckedRoutes();
  routes.get('/dash', (context) => context.body(null, 204));

  expect(() => routes.guard('/dash', () => undefined)).toThrow(
    new TypeError('Cannot guard "/dash": it has routes already'),
  );
  expect(() => routes.guard('/das', () => undefined)).not.toThrow();
});

test('Over a socket too, what a route says of a header stands in the place of what all answers say', async () => {
  const api = createHollowApi();
  const server = new HttpServer({
    ...{ host: '127.0.0.1', port: 0, answer: api.answer },
    ...{ newId: () => 'req_0', clock: new FakeClock() },
  });
  const port = await server.start();
  onTestFinished(() => server.stop());

  const response = await fetch(`http://127.0.0.1:${port}/docs`);

  const { headers } = response;
  expect(headers.get('Content-Security-Policy')).toContain("style-src 'self'");
  expect(headers.get('Content-Security-Policy')?.split("default-src 'none'")).toHaveLength(2);
  expect(headers.get('X-Frame-Options')).toBe('DENY');
  expect(headers.get('X-Request-Id')).toBe('req_0');
});
