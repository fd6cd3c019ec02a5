/** The server's sentences in the language of the page. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plainMessage } from '../../src/api/http/plain-message.ts';
import { ApiError } from '../../src/dashboard/api-error.ts';
import reports from '../../src/dashboard/text/de-reports.json' with { type: 'json' };
import german from '../../src/dashboard/text/de-server.json' with { type: 'json' };
import { errorText, fieldTexts, sentenceText } from '../../src/dashboard/text/text.ts';
import { ERROR_STATUS } from '../../src/domain/service-error.ts';

const SOURCE = join(import.meta.dirname, '../../src');

const SENTENCES = { ...german.sentences, ...reports.sentences };

/** The sources of the server, and of what it has in common with the page. */
const sources = readdirSync(SOURCE, { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.ts') && !name.startsWith('dashboard/text/'))
  .map((name) => readFileSync(join(SOURCE, name), 'utf8'))
  .join('\n');

/** Planes whose errors reach the page as they are. */
const FACING = /^(?:api|domain|operator)\//;

/** Every sentence that is written out in an error, with a word in each of its places. */
const SAID = readdirSync(SOURCE, { recursive: true })
  .map(String)
  .filter((name) => FACING.test(name) && name.endsWith('.ts'))
  .flatMap((name) => [
    ...readFileSync(join(SOURCE, name), 'utf8').matchAll(
      /(?:new ServiceError\(|\b(?:conflict|unprocessable|unusable|refused)\()\s*(?:'[A-Z_]+',\s*)?(?:'(Cannot [^'\n]*)'|`(Cannot [^`\n]*)`)/g,
    ),
  ])
  .map(
    ([, plain, template]) =>
      plain ?? template?.replaceAll(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, 'one') ?? '',
  );

/** Sentences that the server puts together from shorter parts. */
const COMPOSED = [
  /^must (?:be|have) /,
  /^Cannot use (?:from|to) /,
  /^Cannot make the .*: there (?:are \{max\} already|is one with this name)$/,
  /^the carrier (?:refuses|does not know) .*\buser "/,
  /^no common codec: the carrier has none/,
  /^this machine's clock is .* ahead of /,
  /^expires in .* days/,
  / processes could not be started /,
  /" answers?$/,
  /^it answers with vectors /,
  /^the language model takes /,
  / to the bind$/,
];

function errorOf(code: string, message: string, details: ApiError['details'] = []): ApiError {
  return new ApiError({ status: 400, code, message, details });
}

test.each([
  ...Object.keys(ERROR_STATUS),
  'UNREACHABLE',
  'UNKNOWN',
])('errorText says in German what %s means, and the server’s own words where they are not known', (code) => {
  const text = errorText('de', errorOf(code, 'Cannot dance'));

  expect(Object.keys(german.codes)).toContain(code);
  expect(text).toMatch(/^\p{Lu}.*\. Meldung des Servers: Cannot dance$/u);
});

test('errorText leaves English as the server says it', () => {
  expect(errorText('en', errorOf('CONFLICT', 'Cannot dance'))).toBe('Cannot dance');
});

test.each([
  [
    'Cannot delete the agent: it has a live call',
    'Der Agent führt gerade ein Gespräch und lässt sich erst danach löschen',
  ],
  [
    'Cannot use to "+39": its country may not be called',
    'Die Nummer „+39“ kann nicht angerufen werden: Anrufe in das Land dieser Nummer sind nicht erlaubt',
  ],
  [
    'Cannot find the webhook endpoint: there is none with this id',
    'Nicht gefunden: Webhook-Endpunkt. Diese ID gibt es nicht',
  ],
  ['Cannot sign in: the password is wrong', 'Anmeldung nicht möglich: Das Passwort ist falsch'],
  [
    'Cannot pause the campaign "Recall": it is completed',
    'Bei der Kampagne „Recall“ geht das nicht: Ihr Zustand ist „abgeschlossen“',
  ],
  [
    'Cannot read the body: settings.maxDurationSeconds: must be at least 10',
    'Eingabe prüfen: settings.maxDurationSeconds muss mindestens 10 sein',
  ],
  [
    'Cannot make the calendar "call": there is one with this name',
    'Es gibt schon einen Kalender „call“',
  ],
  [
    'Cannot make the tool: there are 50 already',
    'Es gibt schon 50 Werkzeuge, mehr sind nicht möglich',
  ],
])('errorText translates %o', (message, expected) => {
  expect(errorText('de', errorOf('CONFLICT', message))).toBe(expected);
});

test('fieldTexts translates what is wrong with each field, and leaves out no word that it does not know', () => {
  const error = errorOf('VALIDATION_ERROR', 'Cannot read the body', [
    { path: 'name', message: 'is required' },
    { path: 'language', message: 'must be "en" or "de"' },
    { path: 'prompt', message: 'must have at most 100 characters' },
    { path: 'voice', message: 'expected a song' },
  ]);

  expect(fieldTexts('de', error)).toEqual({
    name: 'fehlt',
    language: 'muss einer dieser Werte sein: "en" oder "de"',
    prompt: 'darf höchstens 100 Zeichen haben',
    voice: 'Diese Eingabe geht nicht: expected a song',
  });
});

test('sentenceText translates why a webhook did not arrive', () => {
  expect(sentenceText('de', 'the receiver answered 500')).toBe(
    'der Empfänger hat mit 500 geantwortet',
  );
  expect(sentenceText('de', 'a song')).toBe('a song');
});

test('every sentence that the server writes out in an error has its German', () => {
  const missing = SAID.filter((said) =>
    /Meldung des Servers/.test(errorText('de', errorOf('CONFLICT', said))),
  );

  expect(SAID.length).toBeGreaterThan(80);
  expect(missing).toEqual([]);
});

test.each<Parameters<typeof plainMessage>[0]>([
  { code: 'invalid_type', expected: 'string', input: undefined },
  ...['string', 'number', 'int', 'boolean', 'array', 'object', 'null'].map(
    (expected) => ({ code: 'invalid_type', expected, input: Symbol('other') }) as never,
  ),
  { code: 'invalid_value', values: ['cold', 'warm'], input: 'hot' },
  ...['string', 'array', 'number'].flatMap((origin) =>
    [1, 2].flatMap((limit) => [
      { code: 'too_small', origin, minimum: limit, inclusive: true, input: '' } as never,
      { code: 'too_big', origin, maximum: limit, inclusive: true, input: '' } as never,
    ]),
  ),
  { code: 'too_small', origin: 'number', minimum: 0, inclusive: false, input: 0 },
  { code: 'too_big', origin: 'number', maximum: 0, inclusive: false, input: 0 },
  ...['datetime', 'date', 'regex'].map(
    (format) => ({ code: 'invalid_format', format, input: '' }) as never,
  ),
])('what a schema refuses has its German: %o', (issue) => {
  const message = plainMessage(issue) ?? '';

  const { field } = fieldTexts('de', errorOf('VALIDATION_ERROR', '', [{ path: 'field', message }]));

  expect(field).not.toContain(message);
  expect(field).not.toMatch(/\b(?:must|have|expected)\b/);
});

test('every translated sentence is one of the server, or of its list of models', () => {
  const models = readFileSync(join(SOURCE, '../models/manifest.json'), 'utf8');
  const stale = Object.keys(SENTENCES).filter((sentence) => {
    const parts = sentence.replace(/^expected /, '').split(/\{\w+\}|; |: |, | \(/);
    const longest = parts.toSorted((one, other) => other.length - one.length)[0] ?? '';
    const isWritten = sources.includes(longest.trim()) || models.includes(longest);
    return !COMPOSED.some((form) => form.test(sentence)) && !isWritten;
  });

  expect(stale).toEqual([]);
});

test('every translation has the places of its sentence', () => {
  const places = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String);
  const wrong = Object.entries(SENTENCES).filter(([sentence, text]) =>
    places(text).some((place) => !places(sentence).includes(place)),
  );

  expect(wrong).toEqual([]);
});
