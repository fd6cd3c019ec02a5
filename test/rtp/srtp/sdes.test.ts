/** Keys in session descriptions: which lines are usable, and what two ends agree on. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseSdp, SdpError } from '../../../src/rtp/sdp.ts';
import { readCryptoLines, SdesKeys } from '../../../src/rtp/srtp/sdes.ts';

const KEY = 'd0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj';
const GCM_KEY = Buffer.alloc(28, 7).toString('base64');

const line = (fields: object) => ({
  ...{ id: 1, suite: 'AES_CM_128_HMAC_SHA1_80', config: `inline:${KEY}` },
  ...fields,
});

test.each([
  ['a key', {}],
  ['a lifetime', { config: `inline:${KEY}|2^20` }],
  ['a lifetime in packets', { config: `inline:${KEY}|1048576` }],
  ['a window size hint', { sessionConfig: 'WSH=128' }],
  ['an unknown parameter that its dash makes optional', { sessionConfig: 'WSH=64 -NEW=1' }],
  ['the short tag', { suite: 'AES_CM_128_HMAC_SHA1_32' }],
  ['GCM', { suite: 'AEAD_AES_128_GCM', config: `inline:${GCM_KEY}` }],
])('readCryptoLines takes %s', (_, fields) => {
  expect(readCryptoLines([line(fields)])).toHaveLength(1);
});

test.each([
  ['another suite', { suite: 'F8_128_HMAC_SHA1_80' }],
  ['a suite named as a property of objects', { suite: 'constructor' }],
  ['a short key', { config: `inline:${GCM_KEY}` }],
  ['a long key', { suite: 'AEAD_AES_128_GCM' }],
  ['no key', { config: 'inline:' }],
  ['a key with an identifier', { config: `inline:${KEY}|2^20|1:4` }],
  ['two keys', { config: `inline:${KEY};inline:${KEY}` }],
  ['a stream without authentication', { sessionConfig: 'UNAUTHENTICATED_SRTP' }],
  ['reports in the clear', { sessionConfig: 'UNENCRYPTED_SRTCP' }],
  ['a key derivation rate', { sessionConfig: 'KDR=4' }],
  ['a parameter that it does not know', { sessionConfig: 'NEW=1' }],
  ['an order of error correction', { sessionConfig: 'FEC_ORDER=FEC_SRTP' }],
  ['a stream in the clear behind other parameters', { sessionConfig: 'WSH=64 UNENCRYPTED_SRTP' }],
  ['two dashes', { sessionConfig: '--NEW' }],
  ['no tag', { id: undefined }],
])('readCryptoLines leaves out %s', (_, fields) => {
  expect(readCryptoLines([line(fields), line({ id: 2 })])).toMatchObject([{ tag: 2 }]);
});

test('SdesKeys answers with the tag and suite of the first usable line, and one key throughout', () => {
  const ours = new SdesKeys();
  const theirs = readCryptoLines([line({ id: 3 }), line({ suite: 'AES_CM_128_HMAC_SHA1_32' })]);

  const [answer = ''] = ours.answer(theirs);
  const agreed = ours.agree(theirs);

  expect(answer).toBe(`a=crypto:3 AES_CM_128_HMAC_SHA1_80 inline:${agreed?.send.inline}`);
  expect(ours.answer(theirs)).toEqual([answer]);
  expect(ours.offer()[0]).toContain(agreed?.send.inline);
  expect(agreed?.receive).toEqual({ suite: 'AES_CM_128_HMAC_SHA1_80', inline: KEY });
});

test('SdesKeys has another key for each suite and each call', () => {
  const keysOf = (lines: readonly string[]) => lines.map((text) => text.split('inline:')[1]);

  const keys = [...keysOf(new SdesKeys().offer()), ...keysOf(new SdesKeys().offer())];

  expect(new Set(keys).size).toBe(6);
});

test('SdesKeys agrees on plain RTP where there are no keys', () => {
  expect(new SdesKeys().agree([])).toBeUndefined();
});

test('readCryptoLines takes anything a parser may give, and only whole keys', () => {
  const field = fc.oneof(
    fc.anything(),
    fc.constantFrom('AES_CM_128_HMAC_SHA1_80', `inline:${KEY}`),
  );
  const lines = fc.array(
    fc.record({ id: field, suite: field, config: field, sessionConfig: field }),
  );

  const property = fc.property(lines, (given) => {
    for (const { inline } of readCryptoLines(given)) expect(inline).toBe(KEY);
  });

  fc.assert(property);
});

const offerWith = (end: string) =>
  [
    ...['v=0', 'o=- 1 1 IN IP4 192.0.2.5', 's=-', 'c=IN IP4 192.0.2.5', 't=0 0'],
    ...['m=audio 4000 RTP/SAVP 0', `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}${end}`, ''],
  ].join('\r\n');

test.each([
  ' WSH=64 UNENCRYPTED_SRTCP',
  '  UNENCRYPTED_SRTP',
  '\tUNAUTHENTICATED_SRTP',
  '\u00a0UNENCRYPTED_SRTP',
  ' WSH=64  KDR=4',
  ' -NEW KDR=24',
  ' WSH=64 KDR=0 NEW=1',
  ' UNENCRYPTED_SRTP WSH=64',
  '|2^20|1:4',
  '|1:4',
  '|2^20 WSH=64 UNENCRYPTED_SRTCP',
])('parseSdp refuses a line with a key and "%s"', (end) => {
  expect(() => parseSdp(offerWith(end), { srtp: 'required' })).toThrow(SdpError);
});

test.each([
  '',
  ' ',
  '|2^31',
  ' WSH=64',
  ' WSH=1024  KDR=0 -NEW=a,b',
])('parseSdp takes a line with a key and "%s"', (end) => {
  const { cryptoLines } = parseSdp(offerWith(end), { srtp: 'required' });

  expect(cryptoLines).toEqual([{ tag: 1, suite: 'AES_CM_128_HMAC_SHA1_80', inline: KEY }]);
});

test('parseSdp with SRTP takes or refuses every a=crypto line', () => {
  const head = ['v=0', 'o=- 1 1 IN IP4 192.0.2.5', 's=-', 'c=IN IP4 192.0.2.5', 't=0 0'];
  const tail = fc.array(fc.string({ unit: 'binary-ascii' }), { maxLength: 3 });
  const property = fc.property(tail, (words) => {
    const text = [...head, 'm=audio 4000 RTP/SAVP 0', `a=crypto:${words.join(' ')}`, ''].join(
      '\r\n',
    );
    try {
      expect(parseSdp(text, { srtp: 'preferred' }).cryptoLines).not.toEqual([]);
    } catch (error) {
      expect(error).toBeInstanceOf(SdpError);
    }
  });

  fc.assert(property, { numRuns: 500 });
});
