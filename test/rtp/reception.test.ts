import { expect, test } from 'vitest';
import { Reception } from '../../src/rtp/reception.ts';

const SSRC = 7;

function receive(reception: Reception, sequence: number, atMs: number, ssrc = SSRC): void {
  const payload = new Uint8Array(160);
  const timestamp = sequence * 160;
  reception.count(
    { payloadType: 0, hasMarker: false, sequence: sequence & 0xffff, timestamp, ssrc, payload },
    atMs,
  );
}

test('Reception counts what is missing between the first and the newest packet', () => {
  const reception = new Reception();

  for (const sequence of [65_534, 65_535, 65_538, 65_539]) receive(reception, sequence, 0);

  expect(reception.packetsReceived).toBe(4);
  expect(reception.packetsLost).toBe(2);
});

test('Reception keeps the losses of streams that were before', () => {
  const reception = new Reception();
  for (const sequence of [1, 3]) receive(reception, sequence, 0);

  for (const sequence of [500, 502]) receive(reception, sequence, 0, SSRC + 1);

  expect(reception.packetsReceived).toBe(4);
  expect(reception.packetsLost).toBe(2);
});

test('Reception lets no packet that came twice make up for one that was lost, but in reports', () => {
  const reception = new Reception();
  for (const sequence of [1, 2, 4]) receive(reception, sequence, 0);

  receive(reception, 4, 0);
  reception.countTwice();

  expect(reception.packetsLost).toBe(1);
  expect(reception.report(0)).toMatchObject({ packetsLost: 0, fractionLost: 0 });
});

test('Reception reports the share lost since the report before', () => {
  const reception = new Reception();
  for (const sequence of [1, 2, 3, 4]) receive(reception, sequence, 0);
  reception.report(0);
  for (const sequence of [5, 8]) receive(reception, sequence, 0);

  const report = reception.report(0);

  expect(report).toMatchObject({
    ssrc: SSRC,
    fractionLost: 128,
    packetsLost: 2,
    highestSequence: 8,
  });
});

test('Reception extends the sequence number over 16 bits', () => {
  const reception = new Reception();
  for (const sequence of [65_535, 65_536, 65_537]) receive(reception, sequence, 0);

  const report = reception.report(0);

  expect(report?.highestSequence).toBe(65_537);
});

test('Reception has no jitter on an even stream and the spread of an uneven one', () => {
  const [even, uneven] = [new Reception(), new Reception()];

  for (let index = 0; index < 200; index += 1) {
    receive(even, index, index * 20);
    receive(uneven, index, index * 20 + (index % 2) * 8);
  }

  expect(even.jitterMs).toBe(0);
  expect(uneven.jitterMs).toBeCloseTo(8, 1);
});

test('Reception says how long ago the last sender report came', () => {
  const reception = new Reception();
  receive(reception, 1, 0);
  reception.countSenderReport(0xabcd_1234, 1000);

  const report = reception.report(1500);

  expect(report).toMatchObject({
    lastSenderReport: 0xabcd_1234,
    delaySinceLastSenderReport: 32_768,
  });
});

test('Reception has nothing to report before the first packet', () => {
  const reception = new Reception();

  const report = reception.report(0);

  expect(report).toBeUndefined();
});
