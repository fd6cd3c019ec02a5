import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ntpMiddleOf, parseRtcp, writeRtcp } from '../../src/rtp/rtcp.ts';

const SENDER = { atMs: 500, timestamp: 0x01020304, packetsSent: 5, bytesSent: 800 };
const RECEPTION = {
  ssrc: 9,
  fractionLost: 64,
  packetsLost: 3,
  highestSequence: 70_000,
  jitterSamples: 16,
  lastSenderReport: 0x11223344,
  delaySinceLastSenderReport: 65_536,
};

test('writeRtcp writes a sender report as RFC 3550 draws it, with the name after it', () => {
  const datagram = writeRtcp({ ssrc: 1, cname: 'abcd', sender: SENDER, reception: RECEPTION });

  expect(Buffer.from(datagram).toString('hex')).toBe(
    [
      // 500 ms after 1970, in NTP seconds and a fraction of exactly one half.
      ...['81c8000c', '00000001', '83aa7e80', '80000000', '01020304', '00000005', '00000320'],
      ...['00000009', '40000003', '00011170', '00000010', '11223344', '00010000'],
      ...['81ca0003', '00000001', '01046162', '63640000'],
    ].join(''),
  );
});

test('writeRtcp writes a receiver report when nothing has been sent, and BYE last', () => {
  const datagram = writeRtcp({ ssrc: 1, cname: 'abc', isBye: true });

  expect(Buffer.from(datagram).toString('hex')).toBe(
    [
      '80c90001',
      '00000001',
      '81ca0003',
      '00000001',
      '01036162',
      '63000000',
      '81cb0001',
      '00000001',
    ].join(''),
  );
});

test('writeRtcp writes negative losses, when packets came twice, in 24 bits', () => {
  const datagram = writeRtcp({ ssrc: 1, cname: '', reception: { ...RECEPTION, packetsLost: -2 } });

  expect(Buffer.from(datagram).readUInt32BE(12)).toBe(0x40ff_fffe);
});

test('parseRtcp reads reports before a BYE', () => {
  const datagram = writeRtcp({
    ...{ ssrc: 1, cname: 'abcd', isBye: true },
    ...{ sender: SENDER, reception: RECEPTION },
  });

  const heard = parseRtcp(datagram);

  expect(heard).toEqual({
    senderReport: { ssrc: 1, ntpMiddle: 0x7e80_8000 },
    reports: [
      {
        ...{
          ssrc: 9,
          fractionLost: 64,
          packetsLost: 3,
          highestSequence: 70_000,
          jitterSamples: 16,
        },
        ...{ lastSenderReport: 0x11223344, delaySinceLastSenderReport: 65_536 },
      },
    ],
  });
});

test('parseRtcp reads negative losses', () => {
  const datagram = writeRtcp({ ssrc: 1, cname: '', reception: { ...RECEPTION, packetsLost: -2 } });

  expect(parseRtcp(datagram).reports[0]?.packetsLost).toBe(-2);
});

test('ntpMiddleOf names an instant as a report of that instant is named', () => {
  const datagram = writeRtcp({
    ssrc: 1,
    cname: '',
    sender: { ...SENDER, atMs: 1_763_000_123_456 },
  });

  expect(ntpMiddleOf(1_763_000_123_456)).toBe(parseRtcp(datagram).senderReport?.ntpMiddle);
});

test('parseRtcp keeps what it understood before rubbish', () => {
  const report = writeRtcp({ ssrc: 1, cname: 'abcd', sender: SENDER });

  const heard = parseRtcp(Buffer.concat([report, Buffer.from('81cbffff00000001', 'hex')]));

  expect(heard).toEqual({
    senderReport: { ssrc: 1, ntpMiddle: 0x7e80_8000 },
    reports: [],
  });
});

test('parseRtcp never throws', () => {
  const report = writeRtcp({ ssrc: 1, cname: 'abcd', sender: SENDER, reception: RECEPTION });
  const mutation = fc.tuple(fc.nat(report.length - 1), fc.nat(255));

  fc.assert(
    fc.property(fc.array(mutation, { maxLength: 8 }), fc.nat(80), (mutations, length) => {
      const datagram = Uint8Array.from(report);
      for (const [at, byte] of mutations) datagram[at] = byte;

      return parseRtcp(datagram.subarray(0, length)).reports.length <= 31;
    }),
    { numRuns: 3000 },
  );
});
