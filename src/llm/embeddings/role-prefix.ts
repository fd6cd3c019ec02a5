/** Words that embedding models want before a text, by its role; pure */
import type { TextRole } from './embedder.ts';

/** By the names of models. @see the cards of nomic-embed-text-v1.5, e5, mxbai-embed-large-v1 */
const PREFIXES: readonly (readonly [RegExp, Readonly<Record<TextRole, string>>])[] = [
  [/nomic-embed/, { query: 'search_query: ', passage: 'search_document: ' }],
  [/(^|[-/])(multilingual-)?e5/, { query: 'query: ', passage: 'passage: ' }],
  [
    /mxbai-embed/,
    { query: 'Represent this sentence for searching relevant passages: ', passage: '' },
  ],
];

/** Empty for a model that wants none. */
export function rolePrefix(model: string, role: TextRole): string {
  return PREFIXES.find(([name]) => name.test(model))?.[1][role] ?? '';
}
