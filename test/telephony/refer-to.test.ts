/** Whom a far end's REFER names: hostile and odd values of Refer-To. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readReferTo } from '../../src/telephony/drachtio/transfer/far-end-moves.ts';

const RULES = { isSips: false, isKnownHost: (host: string) => host === 'pbx.example' };

test.each([
  ['<sip:+390687654321@pbx.example>', '+390687654321'],
  ['sip:+390687654321@pbx.example', '+390687654321'],
  ['sip:+390687654321@pbx.example;user=phone', '+390687654321'],
  ['"The <workshop>" <sip:+390687654321@pbx.example;transport=tcp>', '+390687654321'],
  ['Workshop <SIP:00390687654321@PBX.example:5070>;x=y', '+390687654321'],
  ['<sip:%2B390687654321@pbx.example>', '+390687654321'],
  ['<sip:+39-06-8765.4321@pbx.example>', '+390687654321'],
  ['<sip:+390687654321;npdi@pbx.example;method=INVITE>', '+390687654321'],
  ['<sip:112@pbx.example>', '112'],
])('readReferTo takes %s', (header, number) => {
  expect(readReferTo(header, RULES)).toEqual({ kind: 'number', number });
});

test.each([
  [undefined, 400],
  ['', 400],
  ['   ', 400],
  ['<>', 400],
  ['<sip:>', 400],
  ['sip:', 400],
  ['+390687654321', 400],
  ['<+390687654321@pbx.example>', 400],
  ['<sip:pbx.example>', 400],
  ['<sip:@pbx.example>', 484],
  ['<sip:+390687654321@>', 403],
  ['<sip:+390687654321@evil.example>', 403],
  ['<sip:+390687654321@pbx.example.evil.example>', 403],
  ['<sip:+390687654321@evil.example;maddr=pbx.example>', 403],
  ['<sip:+390687654321@evil.example@pbx.example>', 400],
  ['<sip:+390687654321:secret@pbx.example>', 400],
  ['<sip:bob@pbx.example>', 484],
  ['<sip:anonymous@pbx.example>', 484],
  ['<sip:+39%0d%0aX@pbx.example>', 484],
  ['<sip:+39%00@pbx.example>', 484],
  ['<sip:＋３９０６@pbx.example>', 400],
  [`<sip:${'1'.repeat(33)}@pbx.example>`, 484],
  [`<sip:${'1'.repeat(600)}@pbx.example>`, 414],
  [`"${'x'.repeat(600)}" <sip:+390687654321@pbx.example>`, 414],
  ['<tel:+390687654321>', 416],
  ['tel:+390687654321', 416],
  ['<sips:+390687654321@pbx.example>', 416],
  ['<http://pbx.example/>', 416],
  ['<javascript:alert(1)@pbx.example>', 416],
  ['<sip:+390687654321@pbx.example?Replaces=a%3Bto-tag%3Db%3Bfrom-tag%3Dc>', 501],
  ['<sip:+390687654321@pbx.example?X=1&replaces=a>', 501],
  ['<sip:+390687654321@pbx.example?Route=%3Csip:evil.example%3E>', 400],
  ['<sip:+390687654321@pbx.example?>', 400],
  ['sip:+390687654321@pbx.example?Subject=x', 400],
  ['<sip:+390687654321@pbx.example;method=BYE>', 501],
  ['<sip:+390687654321@pbx.example;method=>', 501],
  ['<sip:+390687654321@pbx.example>, <sip:+390687654322@pbx.example>', 400],
  ['sip:+390687654321@pbx.example, sip:+390687654322@pbx.example', 400],
  ['<sip:+390687654321@pbx.example><sip:x@pbx.example>', 400],
  ['"open <sip:+390687654321@pbx.example>', 400],
  ['<sip:+390687654321@pbx.example', 400],
  ['sip:+390687654321@pbx.example>', 400],
  ['<sip:+39 0687654321@pbx.example>', 400],
  ['<sip:+390687654321@pbx.example>\r\nX: y', 400],
  ['*', 400],
])('readReferTo refuses %s with %i', (header, sipStatus) => {
  const target = readReferTo(header, RULES);

  expect(target).toMatchObject({ kind: 'refused', sipStatus });
  expect(JSON.stringify(target)).not.toMatch(/\d{4}|evil/);
});

test('readReferTo takes sips where the calls of the trunk are sips', () => {
  const target = readReferTo('<sips:+390687654321@pbx.example>', { ...RULES, isSips: true });

  expect(target).toEqual({ kind: 'number', number: '+390687654321' });
});

test('readReferTo answers any text, with a number that can be dialled or a refusal', () => {
  const parts = ['<', '>', 'sip:', '@', 'pbx.example', '?', ';', ',', '"', '\\', '+39', '%2', ' '];
  const text = fc
    .array(fc.oneof(fc.constantFrom(...parts), fc.string()))
    .map((all) => all.join(''));

  fc.assert(
    fc.property(text, (header) => {
      const target = readReferTo(header, RULES);
      if (target.kind === 'number') expect(target.number).toMatch(/^\+?[0-9*#]{1,32}$/);
      else expect(target.sipStatus).toBeGreaterThanOrEqual(400);
    }),
  );
});
