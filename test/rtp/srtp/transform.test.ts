/** The packet transforms against the vectors of RFC 3711, RFC 7714 and libsrtp. */
import { createSecretKey } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  CounterTransform,
  createTransform,
  deriveKey,
  GcmTransform,
} from '../../../src/rtp/srtp/transform.ts';

const hex = (text: string) => Buffer.from(text.replace(/\s/g, ''), 'hex');

test('CounterTransform has the key stream of RFC 3711, appendix B.2', () => {
  const keys = {
    encryption: createSecretKey(hex('2B7E151628AED2A6ABF7158809CF4F3C')),
    authentication: createSecretKey(Buffer.alloc(20)),
    salt: hex('F0F1F2F3F4F5F6F7F8F9FAFBFCFD'),
  };
  const transform = new CounterTransform({
    rtp: keys,
    rtcp: keys,
    rtpTagBytes: 10,
    rtcpTagBytes: 10,
  });
  // SSRC and index are 0, and zeros become the key stream itself.
  const packet = Buffer.alloc(12 + 0xff02 * 16);
  packet[0] = 0x80;

  const stream = transform.protectRtp(packet, 0).subarray(12);

  expect(stream.subarray(0, 48)).toEqual(
    hex(
      'E03EAD0935C95E80E166B16DD92B4EB4 D23513162B02D0F72A43A2FE4A5F97AB 41E95B3BB0A2E8DD477901E4FCA894C0',
    ),
  );
  expect(stream.subarray(0xfeff * 16, 0xff02 * 16)).toEqual(
    hex(
      'EC8CDF7398607CB0F2D21675EA9EA1E4 362B7C3C6773516318A077D7FC5073AE 6A2CC3787889374FBEB4C81B17BA6C44',
    ),
  );
});

test('deriveKey has the keys of RFC 3711, appendix B.3', () => {
  const master = {
    key: hex('E1F97A0D3E018BE0D64FA32C06DE4139'),
    salt: hex('0EC675AD498AFEEBB6960B3AABE6'),
  };

  const cipherKey = deriveKey({ ...master, label: 0, bytes: 16 });
  const authenticationKey = deriveKey({ ...master, label: 1, bytes: 94 });
  const cipherSalt = deriveKey({ ...master, label: 2, bytes: 14 });

  expect(cipherKey).toEqual(hex('C61E7A93744F39EE10734AFE3FF7A087'));
  expect(cipherSalt).toEqual(hex('30CBBC08863D8C85D49DB34A9AE1'));
  expect(authenticationKey).toEqual(
    hex(`CEBE321F6FF7716B6FD4AB49AF256A15 6D38BAA48F0A0ACF3C34E2359E6CDBCE
         E049646C43D9327AD175578EF7227098 6371C10C9A369AC2F94A8C5FBCDDDC25
         6D6E919A48B610EF17C2041E47403576 6B68642C59BBFC2F34DB60DBDFB2`),
  );
});

test('createTransform has the packets of libsrtp for AES_CM_128_HMAC_SHA1_80', () => {
  const inline = hex('E1F97A0D3E018BE0D64FA32C06DE41390EC675AD498AFEEBB6960B3AABE6');
  const transform = createTransform({
    suite: 'AES_CM_128_HMAC_SHA1_80',
    inline: inline.toString('base64'),
  });
  const rtp = hex(`800f1234decafbadcafebabe${'ab'.repeat(16)}`);
  const rtcp = hex(`81c8000bcafebabe${'ab'.repeat(16)}`);

  const sealed = transform.protectRtp(rtp, 0x1234);
  const sealedReport = transform.protectRtcp(rtcp, 1);

  expect(sealed).toEqual(
    hex('800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb'),
  );
  expect(sealedReport).toEqual(
    hex('81c8000bcafebabe7128035be487b9bdbef89041f977a5a880000001993e08cd54d6c1230798'),
  );
  expect(transform.unprotectRtp(sealed, 0x1234)).toEqual(rtp);
  expect(transform.unprotectRtcp(sealedReport)).toEqual({ packet: rtcp, index: 1 });
});

/** RFC 7714 gives session keys, not master keys. */
const GCM_KEYS = {
  encryption: createSecretKey(hex('000102030405060708090a0b0c0d0e0f')),
  authentication: createSecretKey(Buffer.alloc(20)),
  salt: hex('517569642070726f2071756f'),
};

test('GcmTransform has the SRTP packet of RFC 7714, section 16.1', () => {
  const transform = new GcmTransform(GCM_KEYS, GCM_KEYS);
  const plain = Buffer.concat([
    hex('8040f17b8041f8d35501a0b2'),
    Buffer.from('Gallia est omnis divisa in partes tres'),
  ]);

  const sealed = transform.protectRtp(plain, 0xf17b);

  expect(sealed).toEqual(
    hex(`8040f17b8041f8d35501a0b2 f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b
         36de3adf8833 899d7f27beb16a9152cf765ee4390cce`),
  );
  expect(transform.unprotectRtp(sealed, 0xf17b)).toEqual(plain);
});

test('GcmTransform has the SRTCP packet of RFC 7714, section 17.1', () => {
  const transform = new GcmTransform(GCM_KEYS, GCM_KEYS);
  const plain = hex(
    `81c8000d4d6172734e5450314e545032525450200000042a0000e9304c756e61${'deadbeef'.repeat(5)}`,
  );

  const sealed = transform.protectRtcp(plain, 0x5d4);

  expect(sealed).toEqual(
    hex(`81c8000d4d61727363e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32dc676a5f1730d6fda4ce09b46
         86303ded0bb9275bc84aa45896cf4d2fc5abf87245d9eade 800005d4`),
  );
  expect(transform.unprotectRtcp(sealed)).toEqual({ packet: plain, index: 0x5d4 });
});
