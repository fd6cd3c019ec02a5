/** Which dialog an INVITE replaces: right, odd and hostile values of Replaces. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readReplaces } from '../../src/telephony/drachtio/transfer/replaces.ts';

const DIALOG = { callId: 'a84b@pbx', localTag: 'ours', remoteTag: 'theirs', isEarlyOnly: false };

test.each([
  ['a84b@pbx;to-tag=ours;from-tag=theirs', {}],
  [' a84b@pbx ; from-tag = theirs ; TO-TAG=ours ', {}],
  ['a84b@pbx;to-tag=ours;from-tag=theirs;x=y;z', {}],
  ['a84b@pbx;to-tag=ours;from-tag=theirs;Early-Only', { isEarlyOnly: true }],
  ['a84b;to-tag=ours;from-tag=theirs', { callId: 'a84b' }],
])('readReplaces takes %s', (header, fields) => {
  expect(readReplaces(header)).toEqual({ ...DIALOG, ...fields });
});

test.each([
  '',
  ';',
  'a84b@pbx',
  'a84b@pbx;to-tag=ours',
  'a84b@pbx;from-tag=theirs',
  'a84b@pbx;to-tag=;from-tag=theirs',
  'a84b@pbx;to-tag;from-tag=theirs',
  'a84b@pbx;to-tag=ours;to-tag=ours;from-tag=theirs',
  'a84b@pbx;to-tag=ours;from-tag=theirs;from-tag=others',
  'a84b@pbx;to-tag=ou rs;from-tag=theirs',
  'a84b@pbx;to-tag="ours";from-tag=theirs',
  'a84b@pbx;to-tag=ours=x;from-tag=theirs',
  'a84b@pbx;to-tag=ours;from-tag=theirs, b@pbx;to-tag=ours;from-tag=theirs',
  ';to-tag=ours;from-tag=theirs',
  'a b;to-tag=ours;from-tag=theirs',
  'a84b@pbx;to-tag=ours;from-tag=theirs;ünder=1',
  `${'a'.repeat(600)};to-tag=ours;from-tag=theirs`,
  'a84b@pbx\r\nX: y;to-tag=ours;from-tag=theirs',
])('readReplaces refuses %s', (header) => {
  expect(readReplaces(header)).toBeUndefined();
});

test('readReplaces answers any text', () => {
  const parts = [';', '=', 'to-tag', 'from-tag', 'early-only', ',', '@', 'a', ' '];
  const text = fc
    .array(fc.oneof(fc.constantFrom(...parts), fc.string()))
    .map((all) => all.join(''));

  fc.assert(
    fc.property(text, (header) => {
      const dialog = readReplaces(header);
      if (dialog !== undefined) expect([dialog.localTag, dialog.remoteTag]).not.toContain('');
    }),
  );
});
