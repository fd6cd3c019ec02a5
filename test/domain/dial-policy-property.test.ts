/** The dial policy against random texts. */
import fc from 'fast-check';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { expect, test } from 'vitest';
import { type DialRules, decideDial } from '../../src/domain/dialing/dial-policy.ts';

const RULES: DialRules = {
  allowedCountries: undefined,
  homeNumber: '+390698765432',
  isOwnNumber: () => false,
};

/** What people and machines write when they want a number to look like another. */
const obfuscated = fc
  .tuple(
    fc.constantFrom('+', '', '00', '++', 'tel:+', '+ ', '＋', '011'),
    fc.oneof(
      fc.constantFrom(
        '39',
        '1',
        '1876',
        '44',
        '870',
        '882',
        '979',
        '39899',
        '1900',
        '112',
        '911',
        '3906',
        '39333',
      ),
      fc.stringMatching(/^\d{1,4}$/),
    ),
    fc.string({
      unit: fc.oneof(
        fc.constantFrom(...'0123456789'),
        fc.constantFrom(...'0123456789'),
        fc.constantFrom(...' -().;,@*#٠١٢٣０１２\u200b\n'),
      ),
      maxLength: 14,
    }),
    fc.constantFrom('', ';ext=911', ',911', '\r\n', '@evil.example', ' '),
  )
  .map((parts) => parts.join(''));

/** Numbers as they should be, of whatever kind and country. */
const plausible = fc
  .tuple(
    fc.constantFrom(
      '+3906',
      '+39333',
      '+39800',
      '+39899',
      '+39199',
      '+39848',
      '+4930',
      '+1876',
      '+1900',
      '+882',
    ),
    fc.stringMatching(/^[0-9]{6,8}$/),
  )
  .map((parts) => parts.join(''));

test('decideDial lets nothing through that is outside of the allowed set, out of 20,000 texts', () => {
  let allowedCount = 0;

  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.string({ unit: 'binary' }), obfuscated, plausible),
      (text) => {
        const decision = decideDial(text, RULES);
        if (!decision.isAllowed) return;
        allowedCount += 1;
        const parsed = parsePhoneNumberFromString(text);
        expect(decision.number).toBe(text);
        expect(text).toMatch(/^\+39\d+$/);
        expect(parsed?.country).toBe('IT');
        expect(parsed?.isValid()).toBe(true);
        expect(['FIXED_LINE', 'MOBILE', 'FIXED_LINE_OR_MOBILE', 'VOIP', 'TOLL_FREE']).toContain(
          parsed?.getType(),
        );
      },
    ),
    { numRuns: 20_000 },
  );

  // A policy that refuses everything would hold as well.
  expect(allowedCount).toBeGreaterThan(500);
});
