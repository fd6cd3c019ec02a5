import { expect, test } from 'vitest';
import { Notifier } from '../../src/lib/clock.ts';

test('Notifier rings once for several reasons, after the code that gave them', async () => {
  const bell = new Notifier();
  const heard: string[] = [];
  bell.listen(() => heard.push('ring'));

  bell.ring();
  bell.ring();
  heard.push('still in the transaction');
  await Promise.resolve();

  expect(heard).toEqual(['still in the transaction', 'ring']);
});

test('Notifier rings again for a reason that comes later', async () => {
  const bell = new Notifier();
  let rings = 0;
  bell.listen(() => {
    rings += 1;
  });

  bell.ring();
  await Promise.resolve();
  bell.ring();
  await Promise.resolve();

  expect(rings).toBe(2);
});

test('Notifier does not ring for a listener that was removed', async () => {
  const bell = new Notifier();
  let rings = 0;
  const remove = bell.listen(() => {
    rings += 1;
  });

  bell.ring();
  remove();
  await Promise.resolve();

  expect(rings).toBe(0);
});
