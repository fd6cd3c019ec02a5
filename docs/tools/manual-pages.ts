/** The pages of the manual in the order of `docs/manual.json`, and where each lies in the built site. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ManualPage {
  /** Markdown file, from the root of the repository. */
  readonly source: string;
  /** File of the site, such as `reference/settings.html`. */
  readonly url: string;
  readonly title: string;
}

/** A part of the manual, as the sidebar has it. */
export interface ManualPart {
  readonly title: string;
  readonly pages: readonly ManualPage[];
}

type Navigation = Readonly<Record<string, readonly (readonly [source: string, title: string])[]>>;

/** The start page, which the site makes itself. */
export const START_URL = 'index.html';

/**
 * Reads the navigation; the last part lists every page of `docs/decisions/` by its heading.
 *
 * @throws {Error} naming a page that is not there.
 */
export function manualParts(root: string): readonly ManualPart[] {
  const text = readFileSync(join(root, 'docs/manual.json'), 'utf8');
  const navigation: Navigation = JSON.parse(text);
  return Object.entries(navigation).map(([title, entries]) => ({
    title,
    pages: (title === 'Decisions' ? decisions(root) : entries).map((entry) => pageOf(root, entry)),
  }));
}

function decisions(root: string): Navigation[string] {
  return readdirSync(join(root, 'docs/decisions'))
    .toSorted()
    .map((name) => `docs/decisions/${name}`)
    .map((source) => [source, headingOf(readFileSync(join(root, source), 'utf8'))]);
}

function pageOf(root: string, [source, title]: Navigation[string][number]): ManualPage {
  if (!existsSync(join(root, source))) {
    throw new Error(
      `Cannot build the manual: docs/manual.json names "${source}", which is missing`,
    );
  }
  return { source, title, url: urlOf(source) };
}

/** Pages outside of `docs/` are README files, named after their folder. */
function urlOf(source: string): string {
  const within = source.startsWith('docs/')
    ? source.slice('docs/'.length)
    : source.replace('/README.md', '-folder.md');
  return within.replace(/\.md$/, '.html');
}

function headingOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? '';
}
