/** Reads the text of an HTML page, with its headings as Markdown has them. */
import { Parser } from 'htmlparser2';

/** What is in these is not the text of a page. */
const SKIPPED: ReadonlySet<string> = new Set([
  ...['script', 'style', 'noscript', 'template', 'head', 'svg', 'math', 'iframe', 'object'],
  ...['nav', 'footer', 'button', 'select', 'textarea', 'audio', 'video', 'canvas'],
]);

/** A paragraph of its own each. */
const BLOCKS: ReadonlySet<string> = new Set([
  ...['p', 'div', 'section', 'article', 'main', 'header', 'aside', 'blockquote', 'pre', 'figure'],
  ...['ul', 'ol', 'dl', 'table', 'form', 'fieldset', 'details', 'summary', 'address', 'hr'],
]);

/** A line of its own each. */
const LINES: ReadonlySet<string> = new Set(['br', 'li', 'tr', 'dt', 'dd', 'option', 'caption']);

/** A cell of a table. */
const CELLS: ReadonlySet<string> = new Set(['td', 'th']);

/**
 * Gives the text of a page in one pass, however deep its elements are nested. Scripts, styles, navigation and footers are left
 * out.
 *
 * @param charsMax number of characters after which the text ends soon.
 */
export function htmlText(html: string, charsMax: number): string {
  const page = new PageText();
  const parser = new Parser(
    {
      onopentagname: (name) => page.opened(name),
      onclosetag: (name) => page.closed(name),
      ontext: (text) => page.add(text),
    },
    { decodeEntities: true },
  );
  // In pieces, so that a page of a thousand times the text that may be kept is not read to its end.
  for (let at = 0; at < html.length && page.length <= charsMax; at += PIECE_CHARS) {
    parser.write(html.slice(at, at + PIECE_CHARS));
  }
  parser.end();
  return page.text;
}

const PIECE_CHARS = 65_536;

/** Text with its line ends. */
class PageText {
  /** Open elements of `SKIPPED`. */
  #skips = 0;
  readonly #parts: string[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get text(): string {
    return this.#parts
      .join('')
      .replace(/[^\S\n]*\n[^\S\n]*/g, '\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  }

  opened(name: string): void {
    if (SKIPPED.has(name)) this.#skips += 1;
    const level = headingLevel(name);
    if (level > 0) this.#push(`\n\n${'#'.repeat(level)} `);
    else if (BLOCKS.has(name)) this.#push('\n\n');
    else if (LINES.has(name)) this.#push(name === 'li' ? '\n- ' : '\n');
  }

  closed(name: string): void {
    if (SKIPPED.has(name)) this.#skips = Math.max(0, this.#skips - 1);
    if (headingLevel(name) > 0 || BLOCKS.has(name)) this.#push('\n\n');
    else if (CELLS.has(name)) this.#push(' | ');
  }

  add(text: string): void {
    // Line ends of the source are blanks; those of headings and blocks are added above.
    this.#push(text.replace(/\s+/g, ' '));
  }

  #push(text: string): void {
    if (this.#skips > 0) return;
    this.#parts.push(text);
    this.#length += text.length;
  }
}

/** 0 where the element is no heading. */
function headingLevel(name: string): number {
  return /^h[1-6]$/.test(name) ? Number(name.charAt(1)) : 0;
}
