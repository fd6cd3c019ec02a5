/** How texts are read out: each language by a table, and what holds for any text. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { spokenForm } from '../../../src/speech/text-normalization/spoken-form.ts';
import { leastMs } from '../../support/time/least-ms.ts';
import { AMERICAN } from './american-cases.ts';
import { BRITISH } from './british-cases.ts';
import { FRENCH } from './french-cases.ts';
import { GERMAN } from './german-cases.ts';
import { SPANISH } from './spanish-cases.ts';

const LANGUAGES = ['en-US', 'en-GB', 'de-DE', 'es-ES', 'fr-FR', 'it-IT'] as const;

/** Signs that the rules are about, and letters. */
const text = fc.string({
  unit: fc.constantFrom(
    ...'0123456789.,:/-+()$€£%@#&°½ º ªabhmpkgNrDSt\u00a0–'.split(''),
    'Dr.',
    ' 5 ',
  ),
  maxLength: 60,
});

describe.each([
  ['en-US', AMERICAN],
  ['en-GB', BRITISH],
  ['de-DE', GERMAN],
  ['es-ES', SPANISH],
  ['fr-FR', FRENCH],
] as const)('spokenForm in %s', (language, cases) => {
  test.each(cases)('"%s" is said "%s"', (written, spoken) => {
    expect(spokenForm(written, { language }).text).toBe(spoken);
  });
});

test.each([
  ['es-MX', '$1,234.50', 'mil doscientos treinta y cuatro pesos con cincuenta centavos'],
  ['es-AR', '$1.500,50', 'mil quinientos pesos con cincuenta centavos'],
  ['es-US', '$20.50', 'veinte dólares con cincuenta centavos'],
])('spokenForm reads money as %s does: "%s"', (language, written, spoken) => {
  expect(spokenForm(written, { language }).text).toBe(spoken);
});

test('spokenForm leaves other languages to the engine', () => {
  expect(spokenForm('Costa 5 €.', { language: 'it-IT' }).text).toBe('Costa 5 €.');
});

test('spokenForm leaves plain words as they are', () => {
  const words = fc.string({ unit: fc.constantFrom(...'abcdefgäöüéñ ,?'.split('')), maxLength: 80 });

  fc.assert(
    fc.property(words, fc.constantFrom(...LANGUAGES), (plain, language) => {
      expect(spokenForm(plain, { language }).text).toBe(plain);
    }),
  );
});

test('spokenForm never throws, and the text grows to no more than twelve times its length', () => {
  const any = fc.oneof(text, fc.string({ unit: 'binary', maxLength: 60 }));

  fc.assert(
    fc.property(any, fc.constantFrom(...LANGUAGES), (written, language) => {
      const form = spokenForm(written, { language });

      expect(form.text.length).toBeLessThanOrEqual(12 * written.length + 20);
    }),
    { numRuns: 1000 },
  );
});

test('SpokenForm.wordEnds has one end for each written word, ascending, the last one at the end', () => {
  fc.assert(
    fc.property(text, fc.constantFrom(...LANGUAGES), (written, language) => {
      const ends = spokenForm(written, { language }).wordEnds();

      expect(ends).toHaveLength(written.split(/\s+/).filter((word) => word !== '').length);
      expect([...ends].sort((a, b) => a - b)).toEqual(ends);
      if (ends.length > 0) expect(ends.at(-1)).toBeCloseTo(1);
    }),
    { numRuns: 500 },
  );
});

test('SpokenForm.wordEnds follows what the engine knows of the spoken words', () => {
  const form = spokenForm('It is $20 now', { language: 'en-US' });

  // It, is, twenty, dollars, now
  expect(form.wordEnds([0.1, 0.2, 0.5, 0.8, 1])).toEqual([0.1, 0.2, 0.8, 1]);
});

test.each([
  ...[
    '1',
    '1,',
    'a.',
    'a@',
    '-1',
    '1 ',
    'A',
    '1-',
    '$',
    'www.',
    '/a',
    'http://a/',
    '+1(',
    '1/',
    'A1',
  ],
  ...[' ', '1.', '00 ', '(0', '½', '#1', 'a-'],
])('spokenForm takes time in proportion to the length of junk: %j', async (junk) => {
  for (const language of LANGUAGES) {
    const whole = junk.repeat(20_000 / junk.length);

    expect(await leastMs(() => spokenForm(whole, { language }).wordEnds(), 3)).toBeLessThan(1000);
  }
});

describe('pronunciations', () => {
  const pronunciations = [
    { written: 'nguyen', spoken: 'nwin' },
    { written: 'SQL', spoken: 'sequel' },
    { written: 'Acme Co.', spoken: 'Acme ThirdParty' },
    { written: 'acme', spoken: 'ack me' },
    { written: '24h', spoken: 'around the clock' },
    { written: 'a.b*', spoken: 'star' },
  ];

  test.each([
    ['Dr. Nguyen is in', 'Doctor nwin is in'],
    ['NGUYEN and nguyens', 'nwin and nguyens'],
    ['SQL, not sql', 'sequel, not sql'],
    ['Acme Co. and ACME', 'Acme ThirdParty and ack me'],
    ['24h a day', 'around the clock a day'],
    ['a.b* or axbb', 'star or axbb'],
  ])('"%s" is said "%s"', (written, spoken) => {
    expect(spokenForm(written, { language: 'en-US', pronunciations }).text).toBe(spoken);
  });

  test('are said in languages that are left to the engine too', () => {
    expect(spokenForm('signor Nguyen', { language: 'it-IT', pronunciations }).text).toBe(
      'signor nwin',
    );
  });
});
