/** Options of the manual's search, the same where the index is made and where it is read; pure */
import type { Options } from 'minisearch';
import type { SearchSection } from './search-sections.ts';

/** Characters of a section's text that are shown with a result. */
export const EXCERPT_CHARS = 160;

export const SEARCH_OPTIONS: Options<SearchSection> = {
  fields: ['page', 'heading', 'text'],
  storeFields: ['page', 'heading', 'excerpt'],
  extractField: (section, name) => {
    if (name === 'excerpt') return section.text.slice(0, EXCERPT_CHARS);
    return section[name as keyof SearchSection];
  },
  searchOptions: {
    boost: { heading: 4, page: 2 },
    // Most readers look for how, not why.
    boostDocument: (id) => (String(id).startsWith('decisions/') ? 0.5 : 1),
    combineWith: 'AND',
    prefix: true,
    // One wrong letter in five.
    fuzzy: 0.2,
  },
};
