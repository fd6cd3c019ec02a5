import { expect, test } from 'vitest';
import { requestTarget, TargetError } from '../../src/api/http/request-target.ts';

const HOST = 'voice.example';

test.each([
  ['/api/agents', '/api/agents', ''],
  ['/api/agents?limit=5', '/api/agents', 'limit=5'],
  ['/api/agents?limit=5&a=%20', '/api/agents', 'limit=5&a=%20'],
  ['/api/agents?limit=5#part', '/api/agents', 'limit=5'],
  ['/api/agents?', '/api/agents', ''],
  ['/api/%61gents', '/api/agents', ''],
  ['/api/agents/a%2Fb', '/api/agents/a%2Fb', ''],
  ['/api/agents/%25', '/api/agents/%25', ''],
  ['/api/agents/../calls', '/api/calls', ''],
  ['/%2e%2e/api', '/api', ''],
  ['//other.example/api', '//other.example/api', ''],
  ['/ä', '/ä', ''],
  ['', '/', ''],
  ['http://other.example/api?a=1', '/api', 'a=1'],
  ['/api?a=\\', '/api', 'a=\\'],
])('requestTarget reads %s', (target, path, queryText) => {
  expect(requestTarget(target, HOST)).toMatchObject({ path, queryText });
});

test.each([
  ['voice.example', 'voice.example'],
  ['voice.example:8443', 'voice.example:8443'],
  ['LOCALHOST:80', 'localhost'],
  ['[::1]:3000', '[::1]:3000'],
])('requestTarget takes the host %s', (given, host) => {
  expect(requestTarget('/', given)).toMatchObject({ host });
});

test.each([
  ['/api\\agents', HOST],
  ['api/agents', HOST],
  ['*', HOST],
  ['ftp://other.example/', HOST],
  ['http://', HOST],
  ['http://a b/', HOST],
  ['/', 'a b'],
  ['/', 'a/b'],
  ['/', 'user@voice.example'],
  ['/', 'voice.example:99999'],
])('requestTarget refuses %s at %s', (target, host) => {
  expect(() => requestTarget(target, host)).toThrow(TargetError);
});
