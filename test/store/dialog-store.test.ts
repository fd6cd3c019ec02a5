import { expect, test } from 'vitest';
import { buildDialog } from '../support/build-dialog.ts';
import { openTestStore } from '../support/test-store.ts';

const dialog = (id: string, openedAtMs: number) =>
  buildDialog({ id, openedAt: new Date(openedAtMs) });

test('DialogStore gives back what it keeps, oldest first', async () => {
  const { dialogs } = await openTestStore();

  dialogs.save(dialog('b', 2_000));
  dialogs.save(dialog('a', 1_000));
  dialogs.save({ ...dialog('b', 2_000), sequence: 5 });

  expect(dialogs.all()).toEqual([dialog('a', 1_000), { ...dialog('b', 2_000), sequence: 5 }]);
});

test('DialogStore forgets, also what it never kept', async () => {
  const { dialogs } = await openTestStore();
  dialogs.save(dialog('a', 1_000));

  dialogs.remove('a');
  dialogs.remove('never');

  expect(dialogs.all()).toEqual([]);
});
