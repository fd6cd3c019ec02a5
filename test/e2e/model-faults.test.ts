/** Faults of a language model on real calls: how long the line is silent, and whether the call goes on. */
import { expect, test } from 'vitest';
import { hearModelFaults } from '../support/server/model-fault-calls.ts';

/** The target is 2 s (`npm run bench -- dead-air`); other tests run on the same machine. */
const FIRST_MS_MAX = 2300;
const LONGEST_MS_MAX = 2800;

test('whatever a model does, the caller hears something within 2 s, and the call goes on', async () => {
  const heard = await hearModelFaults();

  const silent = heard.filter(({ firstMs }) => !(firstMs < FIRST_MS_MAX));
  const dry = heard.filter(({ longestMs }) => !(longestMs < LONGEST_MS_MAX));
  const broken = heard.filter(({ isNextAnswered }) => !isNextAnswered);
  expect(heard.length).toBeGreaterThanOrEqual(20);
  expect({ silent, dry, broken }).toEqual({ silent: [], dry: [], broken: [] });
});
