/** A store of open dialogs that is gone with the test. */
import type { OpenDialog } from '../../../src/domain/call/open-dialog.ts';

/** Keeps what is written, and each write. */
export function dialogsInMemory() {
  const kept = new Map<string, OpenDialog>();
  const writes: string[] = [];
  const store = {
    save: (dialog: OpenDialog) => {
      writes.push('save');
      kept.set(dialog.id, dialog);
    },
    remove: (id: string) => {
      writes.push('remove');
      kept.delete(id);
    },
    all: () => [...kept.values()],
  };
  return { kept, writes, store };
}
