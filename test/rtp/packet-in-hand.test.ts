import { expect, test } from 'vitest';
import {
  keptCopy,
  PacketInHand,
  parseRtp,
  type RtpPacket,
  writeRtp,
} from '../../src/rtp/packet.ts';

const PACKET: RtpPacket = {
  ...{ payloadType: 8, hasMarker: true, sequence: 65_535 },
  ...{ timestamp: 0xffff_ff00, ssrc: 0xdead_beef },
  payload: Uint8Array.of(1, 2, 3),
};

test('PacketInHand reads one packet after the other', () => {
  const packet = new PacketInHand();
  packet.read(writeRtp(PACKET));

  const isRtp = packet.read(writeRtp({ ...PACKET, sequence: 7, payload: Uint8Array.of(4) }));

  expect(isRtp).toBe(true);
  expect(keptCopy(packet)).toEqual({ ...PACKET, sequence: 7, payload: Uint8Array.of(4) });
});

test('PacketInHand says where the payload is, behind contributing sources and before padding', () => {
  const datagram = new Uint8Array(12 + 4 + 5);
  datagram.set([0x80 | 0x20 | 1, 0, 0, 9]);
  datagram.set([7, 8, 9, 0, 2], 16);
  const packet = new PacketInHand();

  packet.read(datagram);

  expect([packet.payloadAt, packet.payloadBytes]).toEqual([16, 3]);
  expect(packet.payload).toEqual(Uint8Array.of(7, 8, 9));
});

test('PacketInHand keeps what was read before when the next datagram is no RTP', () => {
  const packet = new PacketInHand();
  packet.read(writeRtp(PACKET));

  const isRtp = packet.read(Uint8Array.of(0x80, 200, 0, 1));

  expect(isRtp).toBe(false);
  expect(keptCopy(packet)).toEqual(PACKET);
});

test("keptCopy stays as it is when the datagram's memory is used again", () => {
  const datagram = writeRtp(PACKET);
  const packet = new PacketInHand();
  packet.read(datagram);

  const kept = keptCopy(packet);
  datagram.fill(0);

  expect(kept).toEqual(parseRtp(writeRtp(PACKET)));
});
