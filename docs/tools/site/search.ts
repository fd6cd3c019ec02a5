/**
 * The search box of the manual. The index is loaded when the box is first used, from the server of the manual; without
 * scripts there is no box, and the pages are the same.
 */
import MiniSearch, { type SearchResult } from 'minisearch';
import { SEARCH_OPTIONS } from '../search-options.ts';

const RESULTS_MAX = 12;

/** Where the site begins: pages lie in folders below it. */
const ROOT = new URL('.', import.meta.url);

const box = element('search', HTMLElement);
const input = element('search-input', HTMLInputElement);
const list = element('search-results', HTMLUListElement);
const status = element('search-status', HTMLElement);

let index: Promise<MiniSearch> | undefined;

function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`The page has no element "${id}"`);
  return found;
}

function loadIndex(): Promise<MiniSearch> {
  index ??= fetch(new URL('search-index.json', ROOT)).then(async (response) => {
    if (!response.ok) throw new Error(`The index was answered with ${response.status}`);
    return MiniSearch.loadJSON(await response.text(), SEARCH_OPTIONS);
  });
  return index;
}

async function search(): Promise<void> {
  const words = input.value.trim();
  try {
    const found = words === '' ? [] : (await loadIndex()).search(words);
    // A later word has its own search.
    if (words === input.value.trim()) show(words, found);
  } catch (error) {
    index = undefined;
    list.replaceChildren();
    status.textContent = `Search does not work now: ${error instanceof Error ? error.message : error}`;
  }
}

function show(words: string, found: readonly SearchResult[]): void {
  list.replaceChildren(...found.slice(0, RESULTS_MAX).map(itemOf));
  status.textContent =
    words === '' ? '' : `${found.length} ${found.length === 1 ? 'place' : 'places'}`;
}

function itemOf({ id, page, heading, excerpt }: SearchResult): HTMLLIElement {
  const link = document.createElement('a');
  link.href = new URL(String(id), ROOT).href;
  link.append(heading === page ? String(page) : `${page}: ${heading}`);
  const text = document.createElement('small');
  text.textContent = String(excerpt);
  link.append(text);
  const item = document.createElement('li');
  item.append(link);
  return item;
}

function close(): void {
  input.value = '';
  show('', []);
}

/** Moves between the box and the results. @param step 1 for the next one, -1 for the one before */
function move(step: number): void {
  const places = [input, ...list.querySelectorAll('a')];
  const at = places.findIndex((place) => place.matches(':focus'));
  places.at((at + step) % places.length)?.focus();
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
}

box.hidden = false;
input.addEventListener('focus', () => void loadIndex().catch(() => undefined));
input.addEventListener('input', () => void search());
box.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown') move(1);
  else if (event.key === 'ArrowUp') move(-1);
  else if (event.key === 'Escape') {
    close();
    input.focus();
  } else if (event.key === 'Enter' && event.target === input) list.querySelector('a')?.click();
  else return;
  event.preventDefault();
});
list.addEventListener('click', close);
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target))
    return;
  event.preventDefault();
  input.focus();
});
document.addEventListener('click', ({ target }) => {
  if (!(target instanceof Node && box.contains(target))) show('', []);
});
