import { expect, test } from 'vitest';
import { Notifier } from '../../src/lib/clock.ts';

test('Notifier calls once for several reasons, after the code that gave them', async () => {
  const notifier = new Notifier();
  const heard: string[] = [];
  notifier.listen(() => heard.push('ring'));

  notifier.notify();
  notifier.notify();
  heard.push('still in the code that notifies');
  await Promise.resolve();

  expect(heard).toEqual(['still in the code that notifies', 'ring']);
});

test('Notifier calls again for a reason that comes later', async () => {
  const notifier = new Notifier();
  let notices = 0;
  notifier.listen(() => {
    notices += 1;
  });

  notifier.notify();
  await Promise.resolve();
  notifier.notify();
  await Promise.resolve();

  expect(notices).toBe(2);
});

test('Notifier does not ring for a listener that was removed', async () => {
  const notifier = new Notifier();
  let notices = 0;
  const remove = notifier.listen(() => {
    notices += 1;
  });

  notifier.notify();
  remove();
  await Promise.resolve();

  expect(notices).toBe(0);
});
