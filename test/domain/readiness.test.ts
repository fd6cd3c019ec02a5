import { expect, test } from 'vitest';
import { readinessStatus } from '../../src/domain/call/engine-state.ts';

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

test.each([
  ['ready', 'one of two trunks fails', [true, false]],
  ['not_ready', 'every trunk fails', [false, false]],
  ['not_ready', 'the only trunk fails', [false]],
  ['ready', 'there is no trunk', []],
] as const)('readinessStatus is %s when %s', (expected, _, trunks) => {
  const carriers = [
    carrier(true),
    ...trunks.map((isReady) => ({ ...carrier(isReady), kind: 'trunk' as const })),
  ];

  expect(readinessStatus({ isDraining: false, carriers, checks: [check(true)] })).toBe(expected);
});
