/** What the manual's search knows: the sections of built pages, under their headings; pure */
import { Parser } from 'htmlparser2';

/** A heading and the text below it, up to the next one. */
export interface SearchSection {
  /** Page and anchor in the site, such as `deploy.html#behind-nat`. */
  readonly id: string;
  /** Title of the page. */
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

/** Headings that begin a section. */
const HEADINGS = ['h1', 'h2', 'h3'];

/** Elements whose end parts words. */
const BLOCKS = ['p', 'li', 'td', 'th', 'pre', 'tr', ...HEADINGS];

/** The sections of a page of the site, from its `main` element. @param url of the page in the site */
export function searchSections(html: string, url: string): readonly SearchSection[] {
  const sections: { id: string; heading: string; text: string }[] = [];
  let isMain = false;
  let isHeading = false;
  const parser = new Parser({
    onopentag(name, { id }) {
      if (name === 'main') isMain = true;
      if (!isMain || !HEADINGS.includes(name)) return;
      isHeading = true;
      sections.push({ id: id === undefined ? url : `${url}#${id}`, heading: '', text: '' });
    },
    ontext(text) {
      const section = sections.at(-1);
      if (!isMain || section === undefined) return;
      if (isHeading) section.heading += text;
      else section.text += text;
    },
    onclosetag(name) {
      if (name === 'main') isMain = false;
      if (HEADINGS.includes(name)) isHeading = false;
      const section = sections.at(-1);
      if (isMain && section !== undefined && BLOCKS.includes(name) && !isHeading)
        section.text += ' ';
    },
  });
  parser.end(html);
  const page = sections[0]?.heading ?? '';
  return sections.map(({ id, heading, text }) => ({
    ...{ id, page, heading },
    text: text.replaceAll(/\s+/g, ' ').trim(),
  }));
}
