import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSameSecret, KEY_BYTES, SealError, SecretBox } from '../../src/lib/secrets.ts';

const [OLD, NEW] = [randomBytes(KEY_BYTES), randomBytes(KEY_BYTES)];

test('opens what it sealed, whatever the text, and shows none of it', () => {
  const box = new SecretBox([NEW]);
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 4 }), (text) => {
      const sealed = box.seal(text, 'trunks.password');
      expect(sealed).not.toContain(text);
      expect(box.open(sealed, 'trunks.password')).toBe(text.toWellFormed());
      expect(box.seal(text, 'trunks.password')).not.toBe(sealed);
    }),
  );
});

test('an older key still opens, the first one seals', () => {
  const before = new SecretBox([OLD]).seal('hunter2', 'a');
  const box = new SecretBox([NEW, OLD]);
  expect(box.open(before, 'a')).toBe('hunter2');
  expect(box.isNewest(before)).toBe(false);
  expect(box.isNewest(box.seal('hunter2', 'a'))).toBe(true);
});

test('a text that was never sealed is left as it is', () => {
  expect(new SecretBox([NEW]).open('hunter2', 'a')).toBe('hunter2');
});

test('another key, another purpose and a changed byte open nothing', () => {
  const box = new SecretBox([NEW]);
  const sealed = box.seal('hunter2', 'trunks.password');
  const bytes = Buffer.from(sealed.split(':')[3] ?? '', 'base64url');
  expect(() => new SecretBox([OLD]).open(sealed, 'trunks.password')).toThrow(SealError);
  expect(() => box.open(sealed, 'calendars.password')).toThrow('it was changed');
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const text = sealed.replace(/[^:]+$/, changed.toString('base64url'));
    expect(() => box.open(text, 'trunks.password')).toThrow('it was changed');
  }
  const short = sealed.replace(/[^:]+$/, 'abcd');
  expect(() => box.open(short, 'trunks.password')).toThrow('it was changed');
});

test.each([
  ['cymru', 'cymru', true],
  ['', '', true],
  ['cymrx', 'cymru', false],
  ['cymr', 'cymru', false],
  ['', 'cymru', false],
  ['cymrů', 'cymrů', true],
])('isSameSecret of "%s" and "%s" is %s', (given, expected, isSame) => {
  expect(isSameSecret(given, expected)).toBe(isSame);
});
