/** Links and headings of the manual's pages: from files of the repository to pages of the site; pure */
import { posix } from 'node:path';

/** The part of markdown-it's token that is used here. */
export interface MarkdownToken {
  type: string;
  readonly content: string;
  children: MarkdownToken[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

/**
 * The link as the site has it; undefined where the target is a file that is not part of the manual.
 *
 * @param source page that has the link, from the root of the repository
 * @param urls page of the site by its source
 */
export function siteLink(
  href: string,
  source: string,
  urls: ReadonlyMap<string, string>,
): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:|^#/i.test(href)) return href;
  const [path = '', fragment] = href.split('#');
  const own = urls.get(source);
  const target = urls.get(posix.join(posix.dirname(source), path));
  if (own === undefined || target === undefined) return undefined;
  const link = posix.relative(posix.dirname(own), target);
  return fragment === undefined ? link : `${link}#${fragment}`;
}

/** The anchor of a heading, by the rule of the site that hosts the repository. */
export function headingAnchor(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
}

/** Gives headings their anchors, and links their targets in the site; a link out of the manual becomes plain text. */
export function adaptTokens(
  tokens: readonly MarkdownToken[],
  source: string,
  urls: ReadonlyMap<string, string>,
): void {
  const seen = new Map<string, number>();
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const anchor = headingAnchor(plainText(tokens[index + 1]));
      const count = seen.get(anchor) ?? 0;
      seen.set(anchor, count + 1);
      token.attrSet('id', count === 0 ? anchor : `${anchor}-${count}`);
    }
    if (token.children !== null) token.children = adaptLinks(token.children, source, urls);
  }
}

function adaptLinks(
  tokens: readonly MarkdownToken[],
  source: string,
  urls: ReadonlyMap<string, string>,
): MarkdownToken[] {
  let isPlain = false;
  return tokens.filter((token) => {
    if (token.type === 'link_open') {
      const link = siteLink(token.attrGet('href') ?? '', source, urls);
      isPlain = link === undefined;
      if (link !== undefined) token.attrSet('href', link);
      return !isPlain;
    }
    return !(token.type === 'link_close' && isPlain);
  });
}

function plainText(token: MarkdownToken | undefined): string {
  const parts = token?.children ?? [];
  return parts.map(({ content }) => content).join('');
}
