/** Details of timeline entries in the language of the page. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { detailsText } from '../../src/dashboard/call/timeline.ts';
import { formatsOf } from '../../src/dashboard/format.ts';
import { type Language, wordOf } from '../../src/dashboard/text/text.ts';
import { isEnglish } from '../support/dashboard/english-on.ts';
import { EVERY_ENTRY } from '../support/store/seed-failed-call.ts';

function write(language: Language, details: Readonly<Record<string, unknown>>): string {
  return detailsText({ language, formats: formatsOf(language) }, details);
}

test.each<readonly [Language, string]>([
  ['en', 'Tool: end the call · Result: refused · Duration: 8,000.5 ms · Problem: the call is over'],
  [
    'de',
    'Werkzeug: den Anruf beenden · Ergebnis: abgelehnt · Dauer: 8.000,5 ms · Problem: der Anruf ist beendet',
  ],
])('detailsText in %s says names, words, numbers and reasons as the page does', (language, text) => {
  const details = {
    name: 'end_call',
    outcome: 'refused',
    tookMs: 8000.5,
    problem: 'the call is over',
  };

  expect(write(language, details)).toBe(text);
});

test('detailsText leaves out what is not so, and names the rest alone where it is', () => {
  const details = { speculated: false, filler: true, sipStatus: null };

  expect(write('en', details)).toBe('Filler phrase first');
});

test('detailsText shows what it does not know as the server writes it', () => {
  expect(write('de', { song: ['la', 'la'] })).toBe('song: ["la","la"]');
});

test.each(
  EVERY_ENTRY,
)('an entry of the kind %s has German words for its details', (kind, details) => {
  expect(wordOf('de', 'event', kind)).not.toBe(kind);
  for (const name of Object.keys(details)) expect(wordOf('de', 'detail', name)).not.toBe(name);
  expect(isEnglish(write('de', details))).toBe(false);
});

test('these are all the kinds of entries that the server writes', () => {
  const folder = join(import.meta.dirname, '../../src');
  const sources = ['call', 'domain']
    .flatMap((plane) => readdirSync(join(folder, plane), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');
  const written = [
    ...sources.matchAll(/(?:timeline\.add|this\.add)\('([a-z_]+)'|kind: '([a-z_]+)', details/g),
  ].map(([, added, stored]) => added ?? stored ?? '');

  const known = EVERY_ENTRY.map(([kind]) => kind);

  expect(written.length).toBeGreaterThan(15);
  expect(written.filter((kind) => !known.includes(kind))).toEqual([]);
});
