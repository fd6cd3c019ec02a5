/** Changes to trunks take effect one after the other, however many there are; checks are few at a time. */
import { expect, test } from 'vitest';
import { openTrunkControl } from '../../src/compose/trunk-control.ts';
import { readConfig } from '../../src/config/config.ts';
import type { StoredTrunk } from '../../src/domain/dialing/trunk.ts';

type Parts = Parameters<typeof openTrunkControl>[0];

/** Telephony whose runs end when the test says so. */
function open() {
  const stored: StoredTrunk[] = [];
  const runs: { readonly read: number; readonly end: PromiseWithResolvers<void> }[] = [];
  const checks: PromiseWithResolvers<undefined>[] = [];
  const control = openTrunkControl({
    config: readConfig({}),
    store: { storedTrunks: { list: async () => stored } as unknown as StoredTrunks },
    telephony: {
      useStored: async (from) => {
        const end = Promise.withResolvers<void>();
        runs.push({ read: (await from.list()).length, end });
        return end.promise;
      },
      check: () => {
        const check = Promise.withResolvers<undefined>();
        checks.push(check);
        return check.promise;
      },
    },
  });
  const change = () => {
    stored.push({} as StoredTrunk);
    return control.reload();
  };
  return { control, change, runs, checks };
}

type StoredTrunks = Parts['store']['storedTrunks'];

test('TrunkControl applies the changes that come during a run by one more run, which reads them all', async () => {
  const { change, runs } = open();
  const first = change();
  await expect.poll(() => runs.length).toBe(1);

  const later = Array.from({ length: 100 }, change);
  runs[0]?.end.resolve();
  await first;
  await expect.poll(() => runs.length).toBe(2);
  runs[1]?.end.resolve();
  await Promise.all(later);

  expect(runs.map(({ read }) => read)).toEqual([1, 101]);
});

test('TrunkControl tells the caller of the run that failed, and goes on', async () => {
  const { change, runs } = open();
  const first = change();
  await expect.poll(() => runs.length).toBe(1);
  const second = change();

  runs[0]?.end.reject(new Error('the disk is full'));
  await expect(first).rejects.toThrow('the disk is full');
  await expect.poll(() => runs.length).toBe(2);
  runs[1]?.end.resolve();

  await second;
});

test('TrunkControl refuses a trunk to an IPv6 address while SIP listens on IPv4 only', () => {
  const { control } = open();
  const settings = { name: 'six', proxy: '[2001:db8::1]', numbers: ['*'] };

  expect(() => control.read(settings)).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('proxy: is an IPv6 address, and SIP listens on IPv4 only'),
    }),
  );
});

test('TrunkControl checks four trunks at a time, and asks to retry later', async () => {
  const { control, checks } = open();
  const inProgress = [1, 2, 3, 4].map((number) => control.check(`trunk-${number}`));

  const refused = control.check('fifth');
  await expect(refused).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', status: 503 });
  checks[0]?.resolve(undefined);
  await inProgress[0];
  void control.check('fifth');

  expect(checks).toHaveLength(5);
});
