import { describe, expect, test } from 'vitest';
import { RouteTree } from '../../src/api/http/route-tree.ts';

function treeOf(...routes: readonly string[]): RouteTree<string> {
  const tree = new RouteTree<string>();
  for (const route of routes) {
    const [method = '', path = ''] = route.split(' ');
    tree.add(method, path, route);
  }
  return tree;
}

const CALLS = treeOf(
  'GET /api/calls',
  'GET /api/calls/{callId}',
  'POST /api/calls/outbound',
  'POST /api/calls/{callId}/hangup',
  'GET /docs/',
);

describe('RouteTree finds', () => {
  test.each([
    ['GET', '/api/calls', 'GET /api/calls', {}],
    ['GET', '/api/calls/call_1', 'GET /api/calls/{callId}', { callId: 'call_1' }],
    ['POST', '/api/calls/outbound', 'POST /api/calls/outbound', {}],
    ['GET', '/api/calls/outbound', 'GET /api/calls/{callId}', { callId: 'outbound' }],
    [
      'POST',
      '/api/calls/outbound/hangup',
      'POST /api/calls/{callId}/hangup',
      { callId: 'outbound' },
    ],
    ['GET', '/api/calls/a%2Fb', 'GET /api/calls/{callId}', { callId: 'a/b' }],
    ['GET', '/api/calls/%zz', 'GET /api/calls/{callId}', { callId: '%zz' }],
    ['GET', '/api/calls/__proto__', 'GET /api/calls/{callId}', { callId: '__proto__' }],
    ['GET', '/docs/', 'GET /docs/', {}],
  ])('%s %s as %s', (method, path, route, params) => {
    expect(CALLS.find(method, path)).toEqual({ route, params });
  });

  test.each([
    ['POST', '/api/calls'],
    ['GET', '/api/calls/'],
    ['GET', '/api/calls/call_1/'],
    ['GET', '/api/calls//hangup'],
    ['GET', 'api/calls'],
    ['GET', '/constructor'],
    ['GET', ''],
  ])('nothing for %s %s', (method, path) => {
    expect(CALLS.find(method, path)).toBeUndefined();
  });
});

test.each([
  ['/api/calls', ['GET', 'HEAD']],
  ['/api/calls/call_1', ['GET', 'HEAD']],
  ['/api/calls/outbound', ['POST']],
  ['/api/nothing', []],
])('RouteTree.methodsOf of %s is %j', (path, methods) => {
  expect(CALLS.methodsOf(path)).toEqual(methods);
});

test.each([
  'GET /api/calls',
  'PATCH /api/calls/{id}',
])('RouteTree refuses %s beside what is there', (route) => {
  expect(() => treeOf('GET /api/calls', 'GET /api/calls/{callId}', route)).toThrow(
    new TypeError(`Cannot add the route "${route}": there is one already`),
  );
});
