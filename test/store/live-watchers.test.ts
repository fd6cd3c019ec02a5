/** Those who watch calls get no power over them. */
import { expect, test } from 'vitest';
import { LiveWatchers } from '../../src/store/store-feeds.ts';
import { buildCall } from '../support/store/build-call.ts';

const SCOPE = { accountId: 'acct_main', environment: 'live' } as const;
const CALL = buildCall({ id: 'call_1', ...SCOPE });

function openWatchers() {
  const watchers = new LiveWatchers();
  const told: string[] = [];
  const watch = (name: string, onEvent: () => void) =>
    watchers.watch(SCOPE, {
      onEvent: () => {
        told.push(name);
        onEvent();
      },
      onClosed: () => void told.push(`${name} closed`),
    });
  return { watchers, told, watch };
}

test('LiveWatchers lets go of a watcher that throws, and tells the others', async () => {
  const { watchers, told, watch } = openWatchers();
  watchers.connect(async () => CALL);
  watch('broken', () => {
    throw new TypeError('the stream is gone');
  });
  watch('sound', () => undefined);

  watchers.hearing('call_1', 'hel');
  watchers.hearing('call_1', 'hello');
  await new Promise((resolve) => setImmediate(resolve));

  expect(told).toEqual(['broken', 'broken closed', 'sound', 'sound']);
});

test('LiveWatchers tells nothing, and breaks nothing, while calls cannot be read', async () => {
  const { watchers, told, watch } = openWatchers();
  watchers.connect(() => {
    throw new Error('the disk is full');
  });
  watch('sound', () => undefined);

  watchers.hearing('call_1', 'hel');
  watchers.changed('call_1');
  await Promise.resolve();

  expect(told).toEqual([]);
});
