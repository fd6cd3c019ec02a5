/** Which numbers may be called at all. */
import { getCountries, getCountryCallingCode } from 'libphonenumber-js/max';
import { expect, test } from 'vitest';
import { type DialRules, decideDial, isShortNumber } from '../../src/domain/dialing/dial-policy.ts';

const OWN = '+390655555555';

const RULES: DialRules = {
  allowedCountries: undefined,
  homeNumber: '+390698765432',
  isOwnNumber: (number) => number === OWN,
};

const decide = (text: string, more: Partial<DialRules> = {}) =>
  decideDial(text, { ...RULES, ...more });

const SHORT = 'emergency and short numbers may not be called';

test.each([
  ['a landline', '+390612345678', {}],
  ['a mobile telephone', '+393331234567', {}],
  ['an allowed country', '+4930123456', { allowedCountries: ['IT', 'DE'] }],
  ['any country, where the operator named the number', '+4930123456', { allowedCountries: 'any' }],
  ['a freephone number of the country', '+39800123456', {}],
  [
    'a number of a possible length that no plan assigns, where a customer names it',
    '+15550100001',
    { homeNumber: '+12025550123', mayBeUnassigned: true },
  ],
  [
    'the country of a home number that could be any of its calling code',
    '+12025550123',
    {
      homeNumber: '+15550100001',
    },
  ],
] as const)('decideDial allows %s', (_what, number, more) => {
  expect(decide(number, more)).toEqual({ isAllowed: true, number });
});

test.each([
  ['another country', '+4930123456', {}, 'its country may not be called'],
  [
    'another country under the same code',
    '+18765230123',
    { homeNumber: '+12025550123' },
    'its country may not be called',
  ],
  [
    'the same, from a number of no country',
    '+18765230123',
    { homeNumber: '+15550100001' },
    'its country may not be called',
  ],
  [
    'any country from nowhere',
    '+390612345678',
    { homeNumber: null },
    'its country may not be called',
  ],
  [
    'a country that is not on the list',
    '+390612345678',
    { allowedCountries: ['DE'] },
    'its country may not be called',
  ],
  [
    'every country, by an empty list',
    '+390612345678',
    { allowedCountries: [] },
    'its country may not be called',
  ],
  ['a premium number', '+39899123456', {}, 'numbers of that kind may not be called'],
  [
    'a premium number named by the operator',
    '+19005551234',
    { allowedCountries: 'any' },
    'numbers of that kind may not be called',
  ],
  [
    'a shared-cost number',
    '+611300123456',
    { homeNumber: '+61291234567' },
    'numbers of that kind may not be called',
  ],
  [
    'a personal number',
    '+15005550006',
    { homeNumber: '+12025550123' },
    'numbers of that kind may not be called',
  ],
  ['a satellite network', '+870773111632', {}, 'numbers of that network may not be called'],
  ['an international network', '+88213300655', {}, 'numbers of that network may not be called'],
  [
    'an international premium rate',
    '+979123456789',
    {},
    'numbers of that network may not be called',
  ],
  ['a universal freephone service', '+80012345678', {}, 'its country may not be called'],
  ['a number that rings here', OWN, {}, 'it rings here, which would be a loop'],
  ['the number that it is from', '+390698765432', {}, 'it rings here, which would be a loop'],
  [
    'another country, also where a number need not be assigned',
    '+18765230123',
    { homeNumber: '+12025550123', mayBeUnassigned: true },
    'its country may not be called',
  ],
  [
    'a premium number, also where a number need not be assigned',
    '+39899123456',
    { mayBeUnassigned: true },
    'numbers of that kind may not be called',
  ],
  [
    'a number that cannot be assigned',
    '+15550100001',
    { homeNumber: '+12025550123' },
    'its number is not one that anybody can have',
  ],
] as const)('decideDial refuses %s', (_what, number, more, reason) => {
  expect(decide(number, more)).toEqual({ isAllowed: false, reason });
});

test.each([
  '112',
  '911',
  '999',
  '110',
  '113',
  '118',
  '000',
  '08',
  '116117',
  ' 9 1 1 ',
  '9-1-1',
  'tel:911',
  'sip:112',
  '+911',
  '+1911',
  '+1 911',
  '+39112',
  '+44999',
  '+61000',
  '+8610010',
  '+39116117',
  '+19115550123',
  '９１１',
  '٩١١',
  '+١٩١١',
  '1-1-2',
  '(112)',
  '\u200b112',
  '١١٢',
])('decideDial says of "%s" that it is an emergency or short number', (text) => {
  expect(decide(text)).toEqual({ isAllowed: false, reason: SHORT });
  expect(decide(text, { isSimulated: true, allowedCountries: 'any' })).toEqual({
    isAllowed: false,
    reason: SHORT,
  });
});

test.each([
  '',
  '+',
  'hello',
  '0612345678',
  '390612345678',
  '00390612345678',
  '+39 06 1234 5678',
  'tel:+390612345678',
  '+390612345678;ext=911',
  '+390612345678\r\nINVITE sip:evil',
  '+390612345678\n',
  '+9991234567',
  '+٣٩٠٦١٢٣٤٥٦٧٨',
  '＋390612345678',
  '+39061234567890123',
  '+390612345678@evil.example',
  '9'.repeat(1_000_000),
])('decideDial refuses "%.40s", which is no possible number in E.164 form', (text) => {
  const decision = decide(text, { allowedCountries: 'any' });

  expect(decision).toMatchObject({ isAllowed: false, reason: expect.stringContaining('E.164') });
});

test.each([
  '+15550100001',
  '+15005550006',
  '+4930123456',
  '+18765230123',
  '+447700900123',
])('decideDial lets the sandbox call %s, whatever country that is', (number) => {
  expect(decide(number, { isSimulated: true })).toEqual({ isAllowed: true, number });
});

test.each([
  '+39899123456',
  '+19005551234',
  '+870773111632',
  '+979123456789',
  OWN,
  '911',
  '+1911',
])('decideDial refuses %s in the sandbox as well', (number) => {
  expect(decide(number, { isSimulated: true }).isAllowed).toBe(false);
});

test('decideDial refuses the emergency numbers behind every calling code', () => {
  const codes = new Set(getCountries().map((country) => getCountryCallingCode(country)));
  const numbers = [
    '000',
    '08',
    '100',
    '101',
    '102',
    '110',
    '111',
    '112',
    '113',
    '115',
    '117',
    '118',
    '119',
    '120',
    '122',
    '190',
    '911',
    '999',
  ];
  const texts = [...codes].flatMap((code) => numbers.map((number) => `+${code}${number}`));

  const allowed = texts.filter((text) => decide(text, { allowedCountries: 'any' }).isAllowed);

  expect(texts.length).toBeGreaterThan(3000);
  expect(allowed).toEqual([]);
});

test('isShortNumber takes short numbers of small islands for what they are', () => {
  expect(isShortNumber('+6834002')).toBe(false);
  expect(isShortNumber('+29022158')).toBe(false);
});
