import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { ApiContext, ApiEnv } from '../../src/api/api-env.ts';
import { plainHeaders } from '../../src/api/middleware/plain-headers.ts';

/** Asks a route that answers so, behind a middleware that sets a header. */
async function answerOf(answer: (context: ApiContext) => Response): Promise<Response> {
  const api = new Hono<ApiEnv>();
  api.use('*', plainHeaders);
  api.use('*', async (context, next) => {
    context.header('X-Before', 'set');
    context.header('X-Twice', 'first');
    await next();
    context.header('X-After', 'set');
  });
  api.get('/', (context) => {
    context.header('x-twice', 'second');
    return answer(context);
  });
  api.onError((error, context) => context.json({ why: error.message }, 500));
  return api.request('/');
}

const SEEN = { 'x-before': 'set', 'x-twice': 'second', 'x-after': 'set' };

test.each<readonly [string, (context: ApiContext) => Response, object]>([
  ['JSON', (context) => context.json({}, 200), { 'content-type': 'application/json' }],
  [
    'JSON with more headers',
    (context) => context.json({}, 200, { 'X-Own': 'yes' }),
    { 'x-own': 'yes' },
  ],
  ['JSON of an error', () => raise('no'), { 'content-type': 'application/json' }],
  [
    'text',
    (context) => context.text('hello'),
    { 'content-type': expect.stringMatching('^text/plain;') },
  ],
  ['a page', (context) => context.html('<p>'), { 'content-type': 'text/html; charset=UTF-8' }],
  ['nothing', (context) => context.body(null, 204), {}],
  ['a redirect', (context) => context.redirect('/there'), { location: '/there' }],
  [
    'an answer of its own',
    () => new Response('x', { headers: { 'X-Own': 'yes' } }),
    { 'x-own': 'yes' },
  ],
])('PlainHeaders puts the headers of all handlers on %s', async (_case, answer, own) => {
  const response = await answerOf(answer);

  expect(Object.fromEntries(response.headers)).toMatchObject({ ...SEEN, ...own });
});

test('PlainHeaders lets a handler choose the type of bytes', async () => {
  const response = await answerOf((context) => {
    context.header('Content-Type', 'text/csv');
    return context.body('a,b');
  });

  expect(response.headers.get('Content-Type')).toBe('text/csv');
});

function raise(message: string): never {
  throw new Error(message);
}
