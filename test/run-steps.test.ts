import { expect, test } from 'vitest';
import {
  type Outcome,
  runStages,
  type Stage,
  type Step,
  stagesOf,
  summaryOf,
} from './run-steps.ts';

const GOOD: Outcome = { passed: 2, failed: 0, skipped: 1 };
const BAD: Outcome = { passed: 1, failed: 3, skipped: 0 };

/** A step that prints something, then waits until it is told to end. */
function heldStep(name: string, begun: string[]): { step: Step; end: (outcome: Outcome) => void } {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const run: Step['run'] = (sink) => {
    begun.push(name);
    sink?.(`${name} speaks\n`);
    return promise;
  };
  return { step: { name, run }, end: resolve };
}

const step = (name: string, outcome: Outcome = GOOD): Step => ({ name, run: async () => outcome });

const namesIn = (stages: readonly Stage[]) =>
  stages.map((stage) => stage.map((lane) => lane.map(({ name }) => name)));

/** Everything that was written, with the seconds taken out. */
function transcript() {
  const pieces: string[] = [];
  const write = (piece: Uint8Array | string) => void pieces.push(String(piece));
  return { write, text: () => pieces.join('').replaceAll(/ in \d+\.\d s/g, '') };
}

const turns = () => new Promise((resolve) => setImmediate(resolve));

test('stagesOf gives all steps when none is asked for, and leaves no empty lane or stage', () => {
  const stages = [[[step('a'), step('b')], [step('c')]], [[step('d')]]];

  expect(namesIn(stagesOf(stages, []))).toEqual([[['a', 'b'], ['c']], [['d']]]);
  expect(namesIn(stagesOf(stages, ['c']))).toEqual([[['c']]]);
  expect(namesIn(stagesOf(stages, ['d', 'b']))).toEqual([[['b']], [['d']]]);
  expect(namesIn(stagesOf(stages, ['e']))).toEqual([]);
});

test('runStages runs a lane in order, lanes side by side, and a stage after the one before', async () => {
  const begun: string[] = [];
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => heldStep(name, begun));
  if (!(a && b && c && d)) throw new Error('There are four');
  const stages = [[[a.step, b.step], [c.step]], [[d.step]]];

  const run = runStages(stages, transcript().write);
  const begins = [[...begun]];
  for (const { end } of [a, b, c]) {
    end(GOOD);
    await turns();
    begins.push([...begun]);
  }
  d.end(GOOD);
  await run;

  expect(begins).toEqual([
    ['a', 'c'],
    ['a', 'c', 'b'],
    ['a', 'c', 'b'],
    ['a', 'c', 'b', 'd'],
  ]);
});

test('runStages shows what steps side by side print whole, in the order in which they end', async () => {
  const [one, other] = [heldStep('one', []), heldStep('other', [])];
  const { write, text } = transcript();

  const run = runStages([[[one.step], [other.step]]], write);
  const before = text();
  other.end(GOOD);
  await turns();
  one.end(GOOD);
  await run;

  expect(before).toBe('.. one begins\n.. other begins\n');
  expect(text().slice(before.length)).toBe(
    '\n== other\nother speaks\n== other: ok\n\n== one\none speaks\n== one: ok\n',
  );
});

test('runStages gives the terminal to a step that runs alone', async () => {
  const sinks: unknown[] = [];
  const alone: Step = {
    name: 'alone',
    run: async (sink) => {
      sinks.push(sink);
      return GOOD;
    },
  };

  await runStages([[[alone]]], transcript().write);

  expect(sinks).toEqual([null]);
});

test('runStages adds up everything, goes on after a failure, and names what failed at the end', async () => {
  const broken: Step = { name: 'broken', run: () => Promise.reject(new Error('no such program')) };
  const { write, text } = transcript();
  const stages = [[[step('a', BAD), step('b')], [broken]], [[step('c')]]];

  const total = await runStages(stages, write);

  expect(total).toEqual({ passed: 5, failed: 4, skipped: 2 });
  expect(text()).toContain('== a: FAILED\n');
  expect(text()).toContain('Cannot run "broken": Error: no such program\n');
  expect(text()).toContain('== b: ok\n');
  expect(text()).toMatch(/== c: ok\n\nFAILED: (a, broken|broken, a)\n$/);
});

test('runStages tells the first ten failures again at the end, and how many more there are', async () => {
  const failures = Array.from({ length: 11 }, (_, index) => `test ${index}: shut`);
  const { write, text } = transcript();

  await runStages([[[step('a', { ...BAD, failures }), step('b', BAD)]]], write);

  const end = text().slice(text().indexOf('FAILED: a, b'));
  expect(end).toContain('FAILED: a, b\n\ntest 0: shut\n\ntest 1: shut\n');
  expect(end).toContain('\ntest 9: shut\n\nand 1 more\n');
  expect(end).not.toContain('test 10');
});

test('runStages tries few failures again alone at the end, counts what passes then, and names it', async () => {
  const flaky: Outcome = {
    ...BAD,
    failures: ['a: too late'],
    again: async () => ({ passed: 7, failed: 0, skipped: 0 }),
  };
  const { write, text } = transcript();

  const total = await runStages([[[step('a', flaky), step('b')]]], write);

  expect(total).toEqual({ passed: 6, failed: 0, skipped: 1 });
  expect(text()).toContain('== b: ok\n\n== a, a second try\n== a, a second try: ok\n');
  expect(text()).toMatch(/FAILED UNDER LOAD, PASSED ALONE: a\n\na: too late\n$/);
});

test('runStages fails what fails alone too', async () => {
  const again = async () => ({ passed: 4, failed: 2, skipped: 0, failures: ['a: never'] });
  const { write, text } = transcript();

  const total = await runStages([[[step('a', { ...BAD, again })]]], write);

  expect(total).toEqual({ passed: 2, failed: 2, skipped: 0 });
  expect(text()).toMatch(/\nFAILED: a\n\na: never\n$/);
});

test('summaryOf tells of skipped tests only where there are some', () => {
  expect(summaryOf(GOOD)).toBe('2 passed, 0 failed, 1 skipped');
  expect(summaryOf(BAD)).toBe('1 passed, 3 failed');
});
