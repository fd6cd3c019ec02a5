/** Writes `docs/reference/` from the source: `npm run docs:reference`. A unit test compares, so that the pages cannot drift. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { referencePages } from './reference-pages.ts';

const FOLDER = join(import.meta.dirname, '../reference');

mkdirSync(FOLDER, { recursive: true });
for (const [name, text] of Object.entries(referencePages())) {
  writeFileSync(join(FOLDER, name), text);
}
