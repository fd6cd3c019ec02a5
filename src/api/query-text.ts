/** Reads the query of an address; pure */
import { getQueryParams } from 'hono/utils/url';

/** A parameter that is there once is a text, one that is there several times a list. @param text what stands after the question mark. */
export function queryOf(text: string): Record<string, string | string[]> {
  if (text === '') return {};
  // It reads whole addresses.
  const all = getQueryParams(`http://host/?${text}`) as Record<string, string[]>;
  const entries = Object.entries(all).map(([name, values]) => {
    const [first = ''] = values;
    return [name, values.length === 1 ? first : values] as const;
  });
  // It passes over one without a name, which nobody knows either.
  const nameless = NAMELESS.exec(text)?.[1];
  return Object.fromEntries(nameless === undefined ? entries : [...entries, ['', nameless]]);
}

const NAMELESS = /(?:^|&)=([^&]*)/;
