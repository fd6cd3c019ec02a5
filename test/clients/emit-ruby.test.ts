/** What the generator writes for Ruby. */
import { expect, test } from 'vitest';
import type {
  ClientModel,
  ClientOperation,
  TypeRef,
} from '../../clients/generator/client-model.ts';
import { emitRuby } from '../../clients/generator/emit-ruby.ts';
import { currentModel } from '../../clients/generator/generate.ts';
import { rubyType } from '../../clients/generator/ruby-types.ts';

const STRING: TypeRef = { kind: 'string' };

const LIST: ClientOperation = {
  ...{ id: 'listTools', resource: 'tools', verb: 'list', method: 'GET', path: '/api/tools' },
  ...{ summary: 'Lists tools', description: '', pathParameters: [], query: [], body: null },
  ...{ takesIfMatch: false, answer: { kind: 'nothing' }, retry: 'always' },
};

function modelOf(changes: Partial<ClientOperation>): ClientModel {
  const operations = [{ ...LIST, ...changes }];
  return { types: [], operations, errorCodes: ['CONFLICT'], webhookEvents: [] };
}

test.each<[TypeRef, string]>([
  [{ kind: 'number' }, '(Integer | Float)'],
  [{ kind: 'choice', values: ['a', true] }, '("a" | true)'],
  [{ kind: 'nullable', of: { kind: 'choice', values: ['a'] } }, '"a"?'],
  [{ kind: 'map', values: { kind: 'named', name: 'McpServer' } }, 'Hash[Symbol, mcp_server]'],
])('rubyType writes %j', (type, expected) => {
  expect(rubyType(type)).toBe(expected);
});

test('emitRuby writes a parameter by the name that the interface has', () => {
  const field = { name: 'agentId', type: STRING, isRequired: false, description: '' };

  const files = emitRuby(modelOf({ query: [field] }));

  expect(files['lib/offhook/generated/resources.rb']).toContain(
    'def list(agentId: nil, options: nil)',
  );
  expect(files['sig/generated/resources.rbs']).toContain('def list: (?agentId: String?, ?options');
});

test('emitRuby refuses a parameter that Ruby could not have', () => {
  const field = { name: 'end', type: STRING, isRequired: false, description: '' };

  expect(() => emitRuby(modelOf({ query: [field] }))).toThrow('the word is reserved');
});

test('emitRuby refuses a body that is no record: its fields are keywords', () => {
  expect(() => emitRuby(modelOf({ body: STRING }))).toThrow('the body is a string, no record');
});

test('emitRuby has a method and a signature for every operation', async () => {
  const model = await currentModel();

  const files = emitRuby(model);

  const methods = files['lib/offhook/generated/resources.rb']?.match(/operation: '/g);
  const signatures = files['sig/generated/resources.rbs']?.match(/^ {4}def (?!initialize)/gm);
  expect(methods).toHaveLength(model.operations.length);
  expect(signatures).toHaveLength(model.operations.length);
});
