import { describe, expect, test } from 'vitest';
import { argumentFaults, schemaFault } from '../../src/domain/tool/argument-schema.ts';

const objectOf = (property: object) => ({ type: 'object', properties: { a: property } });

const nested = (levels: number): object =>
  levels === 0 ? { type: 'string' } : { type: 'array', items: nested(levels - 1) };

describe('schemaFault', () => {
  test.each([
    ['a list as the whole', { type: 'array', items: { type: 'string' } }],
    ['a keyword that is not checked', objectOf({ type: 'string', format: 'date' })],
    ['a property without a type', objectOf({ description: 'Anything.' })],
    ['an expression that is none', objectOf({ type: 'string', pattern: '(' })],
    ['a long expression', objectOf({ type: 'string', pattern: 'a'.repeat(201) })],
    ['a bound that is no number', objectOf({ type: 'number', minimum: '1' })],
    ['a required property that is not there', { ...objectOf({ type: 'string' }), required: ['b'] }],
    ['six levels', objectOf(nested(5))],
    ['9,000 characters', objectOf({ type: 'string', description: 'x'.repeat(9000) })],
    ['a schema that is none', { type: 'object', properties: { a: 'string' } }],
    ['a reference', { type: 'object', $ref: 'https://example.com/schema' }],
  ])('refuses %s', (_case, schema) => {
    expect(schemaFault(schema)).toBeDefined();
  });

  test('takes every keyword that arguments are checked by', () => {
    const text = { type: 'string', minLength: 1, maxLength: 3, pattern: '^a', enum: ['a', 'ab'] };
    const list = { type: 'array', minItems: 1, maxItems: 2, items: text };

    expect(schemaFault({ ...objectOf(list), required: ['a'], additionalProperties: false })).toBe(
      undefined,
    );
  });
});

describe('argumentFaults', () => {
  test.each([
    [{ type: 'string', minLength: 2 }, 'ab', 'a'],
    [{ type: 'string', pattern: '^[A-Z]-\\d+$' }, 'A-10', 'A-10; drop'],
    [{ type: 'integer', minimum: 1, maximum: 5 }, 5, 6],
    [{ type: 'integer', minimum: 1 }, 1, 0],
    [{ type: 'number' }, 1.5, Number.NaN],
    [{ type: 'array', items: { type: 'integer' }, maxItems: 2 }, [1, 2], [1, 2, 3]],
    [{ type: 'array', items: { type: 'integer' }, minItems: 1 }, [1], []],
    [{ type: 'array', items: { type: 'integer' } }, [1], ['1']],
    [{ type: 'boolean' }, false, 'false'],
    [objectOf({ type: 'string' }), { a: 'x' }, { b: 'x' }],
    [{ ...objectOf({ type: 'string' }), required: ['a'] }, { a: 'x' }, {}],
  ])('by %j takes %j and refuses %j', (schema, good, bad) => {
    expect(argumentFaults({ a: good }, objectOf(schema))).toEqual([]);
    expect(argumentFaults({ a: bad }, objectOf(schema))).toHaveLength(1);
  });

  test('gives up an expression that takes exponential time', () => {
    const schema = objectOf({ type: 'string', pattern: '^(a+)+$' });
    const startMs = performance.now();

    expect(argumentFaults({ a: `${'a'.repeat(200)}!` }, schema)).toHaveLength(1);
    expect(performance.now() - startMs).toBeLessThan(1_000);
  });

  test('gives up a hundred of them in the time of one', () => {
    const texts = { type: 'array', items: { type: 'string', pattern: '^(a+)+$' } };
    const startMs = performance.now();

    const faults = argumentFaults({ a: Array(100).fill(`${'a'.repeat(200)}!`) }, objectOf(texts));

    expect(faults).toHaveLength(5);
    expect(performance.now() - startMs).toBeLessThan(1_000);
  });

  // A busy machine may stop the thread for longer than an expression may take.
  test('matches a hundred texts by an expression that is quick', { retry: 3 }, () => {
    const texts = { type: 'array', items: { type: 'string', pattern: '^[A-Z]-[0-9]+$' } };

    expect(argumentFaults({ a: Array(100).fill('A-10') }, objectOf(texts))).toEqual([]);
  });
});
