import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRtcp, parseRtp, writeRtp } from '../../src/rtp/packet.ts';

const PACKET = {
  payloadType: 8,
  hasMarker: true,
  sequence: 65_535,
  timestamp: 0xdead_beef,
  ssrc: 0xffff_fffe,
  payload: Uint8Array.of(1, 2, 3),
};

test('parseRtp reads back what writeRtp wrote', () => {
  const datagram = writeRtp(PACKET);

  const packet = parseRtp(datagram);

  expect(packet).toEqual(PACKET);
});

test('writeRtp lays the header out as RFC 3550 draws it', () => {
  const datagram = writeRtp(PACKET);

  expect(Buffer.from(datagram).toString('hex')).toBe('8088ffffdeadbeeffffffffe010203');
});

test('parseRtp steps over contributing sources, an extension and padding', () => {
  const fixed = '00 01 00 00 00 02 00 00 00 03';
  const datagram = bytes(`b2 00 ${fixed} aaaaaaaa bbbbbbbb bede 0001 cccccccc 11 22 00 02`);

  const packet = parseRtp(datagram);

  expect(packet?.payload).toEqual(Uint8Array.of(0x11, 0x22));
});

test.each([
  ['nothing', ''],
  ['eleven bytes', '80 00 0001 00000002 000000'],
  ['version 1', '40 00 0001 00000002 00000003 11'],
  ['more contributing sources than bytes', '8f 00 0001 00000002 00000003 11'],
  ['an extension cut off', '90 00 0001 00000002 00000003 be de'],
  ['an extension longer than the datagram', '90 00 0001 00000002 00000003 bede 0002 11111111'],
  ['padding longer than the payload', 'a0 00 0001 00000002 00000003 11 05'],
  ['padding of no bytes', 'a0 00 0001 00000002 00000003 11 00'],
  ['RTCP', '80 c8 0001 00000002 00000003'],
])('parseRtp turns away %s', (_name, hex) => {
  const packet = parseRtp(bytes(hex));

  expect(packet).toBeUndefined();
});

test('parseRtp never throws, and its payload lies within the datagram', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (datagram) => {
      if (datagram.length > 0) datagram[0] = 0x80 | ((datagram[0] ?? 0) & 0x3f);
      const packet = parseRtp(datagram);

      return packet === undefined || packet.payload.length <= datagram.length - 12;
    }),
    { numRuns: 5000 },
  );
});

test('isRtcp tells reports from voice with a marker', () => {
  const types = [0x80, 0x88, 0xe5, 0xc8, 0xc9, 0xcb].map((second) =>
    isRtcp(Uint8Array.of(0x80, second)),
  );

  expect(types).toEqual([false, false, false, true, true, true]);
});

function bytes(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
}
