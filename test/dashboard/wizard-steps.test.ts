/** Steps of the wizard of a trunk: addresses, and where refusals and findings belong. */
import { expect, test } from 'vitest';
import { ApiError } from '../../src/dashboard/api-error.ts';
import { routeOf } from '../../src/dashboard/router.ts';
import {
  faultsOfAccess,
  stepOfRefusal,
  wizardAddress,
  wizardStepOf,
} from '../../src/dashboard/trunks/wizard-steps.ts';

function refusal(status: number, ...paths: readonly string[]): ApiError {
  const details = paths.map((path) => ({ path, message: 'wrong' }));
  return new ApiError({ status, code: 'WRONG', message: 'Cannot', details });
}

test.each([
  ['step=numbers', false, 'numbers'],
  ['step=check', true, 'check'],
  ['step=check', false, 'numbers'],
  ['step=call', false, 'numbers'],
  ['step=moon', true, 'carrier'],
  ['', false, 'carrier'],
])('wizardStepOf(%o) where a saved trunk is %o', (query, isSaved, step) => {
  expect(wizardStepOf(new URLSearchParams(query), isSaved)).toBe(step);
});

test('wizardAddress names the step and the trunk', () => {
  const { page, id, query } = routeOf(wizardAddress('check', 'a&b'));

  expect({ page, id }).toEqual({ page: 'trunks', id: '+' });
  expect(Object.fromEntries(query)).toEqual({ step: 'check', trunk: 'a&b' });
});

test.each<[string, unknown, boolean, string]>([
  ['a wrong name', refusal(400, 'name', 'proxy'), false, 'carrier'],
  ['a wrong proxy', refusal(400, 'proxy', 'numbers.0'), false, 'access'],
  ['half of the credentials', refusal(400, 'password'), true, 'access'],
  ['a wrong number', refusal(400, 'numbers.3'), false, 'numbers'],
  ['a wrong number of an agent', refusal(422, 'phoneNumber'), true, 'numbers'],
  ['a taken name', refusal(409), false, 'carrier'],
  ['a taken number', refusal(409), true, 'numbers'],
  ['an outage', refusal(0), false, 'numbers'],
  ['an error of the page', new Error('no'), false, 'numbers'],
])('stepOfRefusal has %s at its step', (_, error, isSaved, step) => {
  expect(stepOfRefusal(error, isSaved)).toBe(step);
});

test('faultsOfAccess leaves out what is good, and what is not set in the wizard', () => {
  const steps = [
    { step: 'dns', ok: true, message: 'there' },
    { step: 'registration', ok: false, message: 'refused' },
    { step: 'clock', ok: false, message: 'ahead' },
  ];

  expect(faultsOfAccess({ ok: false, steps })).toEqual([steps[1]]);
  expect(faultsOfAccess(undefined)).toEqual([]);
});
