import { expect, test } from 'vitest';
import { requestsAnHour, windowOf } from '../../src/domain/account/rate-limit.ts';

test('windowOf is the clock hour, its end excluded', () => {
  const window = {
    startsAt: new Date('2026-11-20T12:00:00.000Z'),
    endsAt: new Date('2026-11-20T13:00:00.000Z'),
  };

  expect(windowOf(new Date('2026-11-20T12:00:00.000Z'))).toEqual(window);
  expect(windowOf(new Date('2026-11-20T12:59:59.999Z'))).toEqual(window);
  expect(windowOf(new Date('2026-11-20T13:00:00.000Z'))).not.toEqual(window);
});

test.each([
  ['starter', 1000],
  ['business', 1000],
  ['enterprise', 10_000],
] as const)('requestsAnHour of %s is %d', (plan, requests) => {
  expect(requestsAnHour(plan)).toBe(requests);
});
