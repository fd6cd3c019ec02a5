/** Reads the text of HTML pages and PDFs: lines, paragraphs, and headings as Markdown has them. */
import { Parser } from 'htmlparser2';
import { getDocumentProxy } from 'unpdf';

/** Elements whose content is not the text of a page. */
const SKIPPED: ReadonlySet<string> = new Set([
  ...['script', 'style', 'noscript', 'template', 'head', 'svg', 'math', 'iframe', 'object'],
  ...['nav', 'footer', 'button', 'select', 'textarea', 'audio', 'video', 'canvas'],
]);

/** Elements that are a paragraph of their own. */
const BLOCKS: ReadonlySet<string> = new Set([
  ...['p', 'div', 'section', 'article', 'main', 'header', 'aside', 'blockquote', 'pre', 'figure'],
  ...['ul', 'ol', 'dl', 'table', 'form', 'fieldset', 'details', 'summary', 'address', 'hr'],
]);

/** Elements that are a line of their own. */
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
    // Line ends of the source count as blanks; line ends of headings and blocks are added above.
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

/** A text run as pdf.js gives it. */
interface Run {
  readonly str: string;
  readonly hasEOL: boolean;
  readonly height: number;
  /** The last number is the distance from the page's foot. */
  readonly transform: readonly number[];
}

/** A line of a page. */
interface PdfLine {
  readonly text: string;
  /** Height of its letters, in points. */
  readonly heightPt: number;
  /** Distance of its base line from the page's foot, in points. */
  readonly yPt: number;
  readonly page: number;
}

/** A document of more pages is read to there. */
const PAGES_MAX = 2000;

/** A line that is further below the one before begins a paragraph, in heights of letters. */
const GAP_MIN = 1.8;

/** Least ratio of a heading's letter height to the usual height. */
const HEADING_RATIO_MIN = 1.15;

const HEADING_CHARS_MAX = 120;

/** The dots between a title and its page number. */
const LEADERS = /(?:[ \t]?\.){4,}/g;

/**
 * Gives the text of a PDF. It may be hostile: call it where neither endless work nor memory harms.
 *
 * @param charsMax number of characters after which no more pages are read.
 * @throws {Error} of pdf.js when the file is no PDF, is damaged, or needs a password.
 */
export async function pdfText(bytes: Uint8Array, charsMax: number): Promise<string> {
  const pdf = await getDocumentProxy(bytes, {
    disableFontFace: true,
    enableXfa: false,
    maxImageSize: 1,
    useSystemFonts: false,
    verbosity: 0,
  });
  const lines: PdfLine[] = [];
  let chars = 0;
  for (let number = 1; number <= Math.min(pdf.numPages, PAGES_MAX); number += 1) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent({ includeMarkedContent: false });
    const found = linesOf(items as unknown as readonly Run[], number);
    chars += found.reduce((sum, { text }) => sum + text.length, 0);
    lines.push(...found);
    page.cleanup();
    if (chars > charsMax) break;
  }
  return textOfLines(lines);
}

function linesOf(runs: readonly Run[], page: number): readonly PdfLine[] {
  const lines: PdfLine[] = [];
  let text = '';
  let heightPt = 0;
  let yPt = 0;
  const end = () => {
    const words = text.replace(LEADERS, ' ').trim();
    if (words !== '') lines.push({ text: words, heightPt, yPt, page });
    text = '';
    heightPt = 0;
  };
  for (const run of runs) {
    text += run.str;
    if (run.str.trim() !== '') {
      heightPt = Math.max(heightPt, run.height);
      yPt = run.transform[5] ?? 0;
    }
    if (run.hasEOL) end();
  }
  end();
  return lines;
}

/** Lines as text: paragraphs have a blank line before them, headings a mark as in Markdown. */
export function textOfLines(lines: readonly PdfLine[]): string {
  const usualPt = usualHeight(lines);
  let text = '';
  let before: PdfLine | undefined;
  for (const line of lines) {
    const isHead = isHeading(line, usualPt);
    const isApart = before === undefined || isHead || isHeading(before, usualPt);
    if (isApart || isParagraph(line, before)) text += `\n\n${isHead ? '## ' : ''}${line.text}`;
    // A word that the end of its line parts.
    else if (/\p{L}-$/u.test(text) && /^\p{Ll}/u.test(line.text))
      text = `${text.slice(0, -1)}${line.text}`;
    else text += `\n${line.text}`;
    before = line;
  }
  return text.trim();
}

function isHeading({ text, heightPt }: PdfLine, usualPt: number): boolean {
  return heightPt >= usualPt * HEADING_RATIO_MIN && text.length <= HEADING_CHARS_MAX;
}

/** A paragraph may continue on the next page. */
function isParagraph(line: PdfLine, before: PdfLine | undefined): boolean {
  if (before === undefined || before.page !== line.page) return false;
  return Math.abs(before.yPt - line.yPt) > GAP_MIN * Math.max(line.heightPt, before.heightPt);
}

/** The height that most characters have. */
function usualHeight(lines: readonly PdfLine[]): number {
  const chars = new Map<number, number>();
  for (const { text, heightPt } of lines) {
    const height = Math.round(heightPt * 2) / 2;
    chars.set(height, (chars.get(height) ?? 0) + text.length);
  }
  const [[usual] = [0]] = [...chars].sort(([, left], [, right]) => right - left);
  return usual;
}
