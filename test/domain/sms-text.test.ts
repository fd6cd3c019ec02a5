import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isLinkAllowed, linksIn, smsPartsOf, textFault } from '../../src/domain/sms/sms-rules.ts';

const PAY = ['https://shop.example.com/pay'];

describe('smsPartsOf', () => {
  test.each([
    ['a'.repeat(160), 1],
    ['a'.repeat(161), 2],
    ['a'.repeat(307), 3],
    ['€'.repeat(80), 1],
    ['€'.repeat(81), 2],
    ['é'.repeat(160), 1],
    ['ж'.repeat(70), 1],
    ['ж'.repeat(71), 2],
    ['😀'.repeat(35), 1],
    ['😀'.repeat(36), 2],
  ])('counts %j', (text, parts) => {
    expect(smsPartsOf(text)).toBe(parts);
  });
});

describe('linksIn', () => {
  test.each([
    ['Go to https://evil.example/a?b.', ['https://evil.example/a?b']],
    ['evil.example', ['evil.example']],
    ['Look at evil。example', ['evil。example']],
    ['ｅｖｉｌ．ｅｘａｍｐｌｅ/x', ['evil.example/x']],
    ['10.0.0.1/admin', ['10.0.0.1/admin']],
    ['write to a@evil.example', ['a@evil.example']],
    ['javascript:alert', ['javascript:alert']],
    ['tel:+8821234567', ['tel:+8821234567']],
    ['bücher.example', ['bücher.example']],
    ['Your code is 4711. See you at 10.30.', []],
    ['Note: Monday 12.5. at 9', []],
    ['Code:ABCD', []],
  ])('finds in %j %j', (text, links) => {
    expect(linksIn(text)).toEqual(links);
  });
});

describe('isLinkAllowed', () => {
  test.each([
    ['https://shop.example.com/pay', true],
    ['shop.example.com/pay/A-1047', true],
    ['https://SHOP.example.com/pay?order=1', true],
    ['https://shop.example.com/payment', false],
    ['https://shop.example.com/', false],
    ['http://shop.example.com/pay', false],
    ['https://shop.example.com:8443/pay', false],
    ['https://shop.example.com/pay/../admin', false],
    ['https://shop.example.com/pay/%2e%2e/admin', false],
    ['https://shop.example.com/pay/%2F..%2Fadmin', false],
    ['https://shop.example.com@evil.example/pay', false],
    ['https://shop.example.com.evil.example/pay', false],
    ['https://evil.example/https://shop.example.com/pay', false],
    ['https://shop.example.com\\@evil.example/pay', false],
    ['https://ѕhop.example.com/pay', false],
  ])('says of %s %s', (link, isAllowed) => {
    expect(isLinkAllowed(link, PAY)).toBe(isAllowed);
  });
});

describe('textFault', () => {
  test.each([
    ['', 'empty'],
    [' \n ', 'empty'],
    ['Hello\u0000', 'cannot be seen'],
    ['Hello\r\nBcc: x', 'cannot be seen'],
    ['\u202Eevil', 'cannot be seen'],
    ['a\u200Bb', 'cannot be seen'],
    ['\ud800', 'cannot be seen'],
    ['ж'.repeat(300), 'too long'],
    ['Pay at https://evil.example', 'only links to https://shop.example.com/pay'],
  ])('refuses %j', (text, why) => {
    expect(textFault(text, PAY)).toContain(why);
  });

  test('lets no text through that leads elsewhere, whatever stands around the link', () => {
    const around = fc.string({ unit: 'binary', maxLength: 30 });
    const link = fc.webUrl({ withQueryParameters: true, withFragments: true });

    fc.assert(
      fc.property(around, link, around, (before, url, after) => {
        const fault = textFault(`${before} ${url} ${after}`, PAY);
        expect(fault).toBeDefined();
      }),
      { numRuns: 500 },
    );
  });

  test('lets plain words, lines and allowed links through', () => {
    const text = 'Your code: 4711.\nPay here: https://shop.example.com/pay/A-1047. Thank you!';

    expect(textFault(text, PAY)).toBeUndefined();
  });
});
