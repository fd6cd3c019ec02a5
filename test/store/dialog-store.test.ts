import { expect, test } from 'vitest';
import type { OpenDialog } from '../../src/domain/open-dialog.ts';
import { openTestStore } from '../support/test-store.ts';

function dialog(id: string, openedAtMs: number): OpenDialog {
  return {
    id,
    sipCallId: 'call-1',
    localParty: '<sip:+390612345678@192.0.2.1>;tag=ours',
    remoteParty: '<sip:+15550100001@192.0.2.2>;tag=theirs',
    remoteTarget: 'sip:+15550100001@192.0.2.2:5060',
    routes: ['<sip:192.0.2.3;lr>'],
    sequence: 2,
    channels: ['leg-1', 'leg-2'],
    openedAt: new Date(openedAtMs),
  };
}

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
