/** Looks for the files of voices. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Sub-folders of `tts` in the models folder, by name; none where it does not exist. */
export function voiceFolders(modelsDir: string): readonly string[] {
  const folder = join(modelsDir, 'tts');
  return entriesOf(folder)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .sort();
}

/** Names of a folder's files that end in `ending`, sorted; none where it does not exist. */
export function filesIn(folder: string, ending: string): readonly string[] {
  return entriesOf(folder)
    .filter((entry) => !entry.isDirectory() && entry.name.endsWith(ending))
    .map(({ name }) => name)
    .sort();
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // No such folder, or not to be read: then there is nothing in it for us.
    return [];
  }
}
