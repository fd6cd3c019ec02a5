/** Lists: a promise of one page, and an iterator over the items of all. */
import { InvalidResponseError } from './errors.ts';

export interface PageSource<Page> {
  readonly style: 'offset' | 'cursor';
  /** Of the first page. */
  readonly query: { readonly offset?: number };
  /** @param changed What the next page has instead of the first one's query. */
  readonly load: (changed: object) => Promise<Page>;
}

/**
 * The request of a list. `await` gives its first page; `for await` gives every item, page after page, and asks for a page
 * only when its first item is wanted. Nothing is sent before either.
 */
export class PageRequest<Item, Page extends object>
  implements PromiseLike<Page>, AsyncIterable<Item>
{
  readonly #source: PageSource<Page>;
  #first: Promise<Page> | undefined;

  constructor(source: PageSource<Page>) {
    this.#source = source;
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting the request is what it is for
  then<Good = Page, Bad = never>(
    onGood?: ((page: Page) => Good | PromiseLike<Good>) | null,
    onBad?: ((error: unknown) => Bad | PromiseLike<Bad>) | null,
  ): Promise<Good | Bad> {
    this.#first ??= this.#page({});
    return this.#first.then(onGood, onBad);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let changed: object | null = {};
    while (changed !== null) {
      const page: Page = await this.#page(changed);
      yield* itemsOf<Item>(page);
      changed = nextOf(page, changed, this.#source);
    }
  }

  async #page(changed: object): Promise<Page> {
    const page = await this.#source.load(changed);
    itemsOf(page);
    return page;
  }
}

interface Envelope {
  readonly data?: unknown;
  readonly total?: unknown;
  readonly nextCursor?: unknown;
  readonly hasMore?: unknown;
}

function itemsOf<Item>(page: Envelope): readonly Item[] {
  if (Array.isArray(page?.data)) return page.data;
  throw notAPage('it has no data');
}

/** What the query of the next page changes; null after the last one. */
function nextOf(
  page: Envelope,
  asked: { readonly offset?: number; readonly cursor?: string },
  { style, query }: PageSource<unknown>,
): object | null {
  const { length } = itemsOf(page);
  if (style === 'cursor') return nextCursorOf(page, asked.cursor);
  const offset = (asked.offset ?? query.offset ?? 0) + length;
  // An empty page ends a list that became shorter meanwhile.
  return length > 0 && offset < Number(page.total) ? { offset } : null;
}

function nextCursorOf({ nextCursor, hasMore }: Envelope, asked?: string): object | null {
  if (hasMore !== true) return null;
  if (typeof nextCursor === 'string' && nextCursor !== asked) return { cursor: nextCursor };
  throw notAPage('its cursor does not move on');
}

function notAPage(why: string): InvalidResponseError {
  return new InvalidResponseError(`Cannot read the page: ${why}`, { status: 200 });
}
