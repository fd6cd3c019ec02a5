import { expect, test } from 'vitest';
import { readinessStatus } from '../../src/domain/readiness.ts';

const carrier = (isReady: boolean) => ({ name: 'sip', isReady, state: '' });

const check = (isOk: boolean) => ({ name: 'database', isOk, state: '' });

test.each([
  ['ready', false, true, true],
  ['not_ready', false, false, true],
  ['not_ready', false, true, false],
  ['draining', true, true, true],
  ['draining', true, false, false],
] as const)('readinessStatus is %s', (expected, isDraining, isReady, isOk) => {
  const parts = { isDraining, carriers: [carrier(isReady)], checks: [check(true), check(isOk)] };

  expect(readinessStatus(parts)).toBe(expected);
});
