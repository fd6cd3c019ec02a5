/** Searches files for text, as on a copied disk. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Paths below the folder of files that have the text, in UTF-8 or UTF-16, or in their name. */
export function foundIn(folder: string, text: string): readonly string[] {
  const forms = [Buffer.from(text, 'utf8'), Buffer.from(text, 'utf16le')];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name);
    if (name.includes(text)) return true;
    if (!statSync(path).isFile()) return false;
    const bytes = readFileSync(path);
    return forms.some((form) => bytes.includes(form));
  });
}
