import { expect, test } from 'vitest';
import type { Guard } from '../../src/api/api-env.ts';
import { CheckedRoutes } from '../../src/api/http/checked-routes.ts';
import { Dispatcher } from '../../src/api/http/dispatcher.ts';
import { ServiceError } from '../../src/domain/service-error.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { Metrics } from '../../src/lib/metrics/metrics.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { askByFetch } from '../support/web-face.ts';

function ask(routes: CheckedRoutes, method: string, path: string): Promise<Response> {
  const { answer } = new Dispatcher(routes, {
    ...{ clock: new FakeClock(), log: silentLogger, newId: () => 'req_0' },
    ...{ metrics: new Metrics({ version: '0.0.0' }), publicUrl: 'https://voice.example' },
  });
  return askByFetch(answer, new Request(`http://localhost${path}`, { method }));
}

test('Dispatcher lets a request pass the guards of its prefix, then its own, each after the one before', async () => {
  const passed: string[] = [];
  const routes = new CheckedRoutes();
  routes.guard('/in', async () => {
    await new Promise(setImmediate);
    passed.push('first');
  });
  routes.guard('/in', () => void passed.push('second'));
  routes.guard('/other', () => void passed.push('other'));
  const own: Guard = async () => void passed.push('own');
  routes.post('/in/here', own, (context) => {
    passed.push('route');
    return context.body(null, 204);
  });

  const { status } = await ask(routes, 'POST', '/in/here');

  expect([status, passed]).toEqual([204, ['first', 'second', 'own', 'route']]);
});

const NO = new ServiceError('FORBIDDEN', 'Cannot go in');

test.each<[string, Guard]>([
  [
    'at once',
    () => {
      throw NO;
    },
  ],
  ['later', () => Promise.reject(NO)],
])('Dispatcher asks neither route nor other guards when a guard refuses %s', async (_when, refuse) => {
  const passed: string[] = [];
  const routes = new CheckedRoutes();
  routes.guard('/in', refuse);
  routes.guard('/in', () => void passed.push('guard'));
  routes.get('/in/here', (context) => {
    passed.push('route');
    return context.body(null, 204);
  });

  const found = await ask(routes, 'GET', '/in/here');
  const unknown = await ask(routes, 'GET', '/in/nowhere');

  expect([found.status, unknown.status, passed]).toEqual([403, 403, []]);
});

test.each<[string, () => never | Promise<never>]>([
  [
    'throws',
    () => {
      throw new TypeError('a secret');
    },
  ],
  ['fails later', () => Promise.reject(new TypeError('a secret'))],
  [
    'throws what is no error',
    () => {
      throw 'a secret';
    },
  ],
])('Dispatcher answers 500 with the envelope for a route that %s', async (_how, fail) => {
  const routes = new CheckedRoutes();
  routes.get('/here', fail);

  const response = await ask(routes, 'GET', '/here');

  expect(response.status).toBe(500);
  expect(response.headers.get('X-Request-Id')).toBe('req_0');
  expect(await response.text()).not.toContain('secret');
});

test('Dispatcher answers HEAD as GET, with the length and without the body', async () => {
  const routes = new CheckedRoutes();
  routes.get('/here', (context) => context.json({ hello: 'you' }, 200));

  const response = await ask(routes, 'HEAD', '/here');

  expect([response.status, response.headers.get('Content-Length')]).toEqual([200, '15']);
  expect(response.body).toBeNull();
});
