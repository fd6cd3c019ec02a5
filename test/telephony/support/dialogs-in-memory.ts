/** A store of open dialogs that is gone with the test. */
import type { OpenDialog } from '../../../src/domain/call/open-dialog.ts';

/** Keeps what is written, and each write. */
export function dialogsInMemory(kept = new Map<string, OpenDialog>()) {
  const writes: string[] = [];
  const store = {
    save: async (dialog: OpenDialog) => {
      writes.push('save');
      kept.set(dialog.id, dialog);
    },
    remove: async (id: string) => {
      writes.push('remove');
      kept.delete(id);
    },
    all: async () => [...kept.values()],
  };
  return { kept, writes, store };
}
