/** What the generator writes for PHP. */
import { expect, test } from 'vitest';
import type { ClientModel, NamedType, TypeRef } from '../../clients/generator/client-model.ts';
import { emitPhp } from '../../clients/generator/emit-php.ts';
import { currentModel } from '../../clients/generator/generate.ts';
import { objectPlaces, phpType } from '../../clients/generator/php-types.ts';

const STRING: TypeRef = { kind: 'string' };
const NONE: ClientModel = {
  types: [],
  operations: [],
  errorCodes: ['CONFLICT'],
  webhookEvents: [],
};

function record(name: string, fields: Readonly<Record<string, TypeRef>>): NamedType {
  const described = Object.entries(fields).map(([field, type]) => {
    return { name: field, type, isRequired: false, description: '' };
  });
  return { name, description: '', shape: { kind: 'record', fields: described } };
}

test.each<[TypeRef, string]>([
  [{ kind: 'number' }, 'int|float'],
  [{ kind: 'choice', values: ["it's", true] }, "'it\\'s'|true"],
  [{ kind: 'list', items: { kind: 'nullable', of: STRING } }, 'list<string|null>'],
  [{ kind: 'map', values: { kind: 'unknown' } }, 'array<string, mixed>'],
])('phpType writes %j', (type, expected) => {
  expect(phpType(type)).toBe(expected);
});

test('objectPlaces finds maps and records, at every depth', () => {
  const map: TypeRef = { kind: 'map', values: STRING };
  const inner = record('Inner', { headers: { kind: 'nullable', of: map }, name: STRING });
  const list: TypeRef = { kind: 'list', items: { kind: 'named', name: 'Inner' } };
  const outer = record('Outer', { tools: list, metadata: map });

  const places = objectPlaces({ kind: 'named', name: 'Outer' }, { ...NONE, types: [outer, inner] });

  expect(places).toEqual(['tools.*', 'tools.*.headers', 'metadata']);
});

test('emitPhp keeps descriptions inside their comments', () => {
  const type: NamedType = { ...record('A', {}), description: 'Ends */ and @throws nothing' };

  const text = emitPhp({ ...NONE, types: [type] })['generated/Types.php'] ?? '';

  expect(text).toContain(' * A: Ends *\\/ and \\@throws nothing\n');
});

test('emitPhp has a method for every operation', async () => {
  const model = await currentModel();

  const text = Object.values(emitPhp(model)).join('\n');

  expect(text.match(/operation: '/g)).toHaveLength(model.operations.length);
});
