import fc from 'fast-check';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { mutationsOf, textWith } from './mutations.ts';
import { nearestTests } from './nearest-tests.ts';
import { drawn, seededRandom } from './sample.ts';

const mutantsOf = (text: string) =>
  mutationsOf('file.ts', text).map((mutation) => textWith(text, mutation));

test.each([
  ['a boundary', 'f = a < b;', ['f = a <= b;', ';']],
  ['a condition', 'if (a) b();', ['if (!(a)) b();', 'if (a) ;']],
  ['a comparison that is the whole condition, once', 'if (a === 1) {}', ['if (!(a === 1)) {}']],
  ['a logical operator', 'const x = a && b;', ['const x = a || b;']],
  ['a literal', 'const x = true;', ['const x = false;']],
  ['an awaited call', 'await a.b();', [';']],
  ['an assignment', 'this.#x = 1;', [';']],
])('mutationsOf finds %s', (_, text, expected) => {
  expect(mutantsOf(text).toSorted()).toEqual(expected.toSorted());
});

test.each([
  ['a log line', "this.#log.info({ a: true }, 'text');"],
  ['a type', 'type A = { readonly x: true };'],
  ['what is thrown', 'throw new Error(a && b);'],
  ['an import', "import { a } from './a.ts';"],
  ['text put together', "const x = 'a' + b;"],
  ['the call of the base class', 'class A extends B { constructor() { super(); } }'],
])('mutationsOf spares %s', (_, text) => {
  expect(mutationsOf('file.ts', text)).toEqual([]);
});

test('a file stays well-formed with any of its faults', () => {
  const text =
    'export function f(a: number) {\n  if (a > 1 && a < 3) g(a + 1);\n  return a ? true : h(a);\n}\n';

  for (const mutant of mutantsOf(text)) {
    const { diagnostics } = ts.transpileModule(mutant, { reportDiagnostics: true });
    expect(diagnostics).toEqual([]);
  }
});

test('mutationsOf names the line of a fault, counted from 1', () => {
  expect(mutationsOf('file.ts', 'const a = 1;\n\nb();\n').map(({ line }) => line)).toEqual([3]);
});

test('nearestTests lists the tests with the fewest files in between first, and leaves out whole-server tests', () => {
  const importers = new Map([
    ['src/a.ts', ['src/b.ts', 'test/x/a.test.ts', 'test/e2e/a.test.ts']],
    ['src/b.ts', ['src/a.ts', 'test/x/b.test.ts']],
  ]);

  expect(nearestTests(importers, 'src/a.ts', 5)).toEqual(['test/x/a.test.ts', 'test/x/b.test.ts']);
  expect(nearestTests(importers, 'src/a.ts', 1)).toEqual(['test/x/a.test.ts']);
});

test('nearestTests lists of equally near tests first those that are named like the source', () => {
  const tests = ['test/a/account.test.ts', 'test/a/agents.test.ts', 'test/b/zone.test.ts'];
  const importers = new Map([['src/a/agent-routes.ts', tests]]);

  expect(nearestTests(importers, 'src/a/agent-routes.ts', 3)).toEqual([
    'test/a/agents.test.ts',
    'test/a/account.test.ts',
    'test/b/zone.test.ts',
  ]);
});

test('drawn takes each item at most once, the same ones for the same seed', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat()), fc.nat(20), fc.nat(), (items, count, seed) => {
      const first = drawn(items, count, seededRandom(seed));

      expect(new Set(first).size).toBe(Math.min(count, items.length));
      expect(drawn(items, count, seededRandom(seed))).toEqual(first);
      expect(items).toEqual(expect.arrayContaining(first));
    }),
  );
});
