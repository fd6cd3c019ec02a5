/** Makes the manual's search: the index of its pages, and the script that reads it. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SEARCH_OPTIONS } from './search-options.ts';
import { searchSections } from './search-sections.ts';

const SCRIPT = join(import.meta.dirname, 'site/search.ts');

/** @param folder the built site; `search.js` and `search-index.json` are added to it */
export async function buildSearch(folder: string): Promise<void> {
  const { default: MiniSearch } = await import('minisearch');
  const index = new MiniSearch(SEARCH_OPTIONS);
  for (const url of globSync('**/*.html', { cwd: folder }).toSorted()) {
    // The start page lists titles alone.
    if (url === 'index.html') continue;
    index.addAll(
      searchSections(readFileSync(join(folder, url), 'utf8'), url.replaceAll('\\', '/')),
    );
  }
  writeFileSync(join(folder, 'search-index.json'), JSON.stringify(index));
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    ...{ input: SCRIPT, platform: 'browser', tsconfig: false },
    logLevel: 'silent',
  });
  try {
    await bundle.write({ file: join(folder, 'search.js'), minify: true });
  } finally {
    await bundle.close();
  }
}
