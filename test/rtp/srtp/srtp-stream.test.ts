/** SRTP between two ends: loss, reordering, roll-over, replays and forgeries; werift as another implementation of it. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ProtectionProfileAes128CmHmacSha1_80, RtpHeader, SrtpSession } from 'werift';
import { parseRtp, writeRtp } from '../../../src/rtp/packet.ts';
import { SrtpReceiver, SrtpSender, StreamIndices } from '../../../src/rtp/srtp/srtp-stream.ts';
import {
  CRYPTO_SUITES,
  type CryptoSuite,
  inlineBytesOf,
  type SrtpKeys,
} from '../../../src/rtp/srtp/transform.ts';

const SUITES = Object.keys(CRYPTO_SUITES) as CryptoSuite[];
const SSRC = 0xcafe_babe;

function keysOf(suite: CryptoSuite): SrtpKeys {
  return { suite, inline: randomBytes(inlineBytesOf(suite)).toString('base64') };
}

/** The packet with that number, counted over all roll-overs; its payload tells it. */
function packet(number: number, ssrc = SSRC): Uint8Array {
  const payload = Buffer.alloc(160);
  payload.writeUInt32BE(number);
  const timestamp = (number * 160) >>> 0;
  return writeRtp({
    payloadType: 0,
    hasMarker: false,
    sequence: number % 65_536,
    timestamp,
    ssrc,
    payload,
  });
}

function report(ssrc = SSRC): Uint8Array {
  const bytes = Buffer.alloc(28);
  bytes.set([0x80, 200, 0, 6]);
  bytes.writeUInt32BE(ssrc, 4);
  return bytes;
}

/** What a network without order delivers: each packet so many places behind its own. */
function disordered<T extends { readonly at: number }>(
  items: readonly T[],
  late: readonly number[],
): T[] {
  const placeOf = ({ at }: T) => at + (late[at % late.length] ?? 0);
  return items.toSorted((one, other) => placeOf(one) - placeOf(other));
}

test.each(
  SUITES,
)('SrtpReceiver with %s reads what SrtpSender sends, whatever the network does', (suite) => {
  const network = fc.record({
    first: fc.constantFrom(0, 1, 32_767, 65_500, 65_535),
    isLost: fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
    late: fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 20 }),
  });

  const property = fc.property(network, ({ first, isLost, late }) => {
    const keys = keysOf(suite);
    const [sender, receiver] = [new SrtpSender(keys), new SrtpReceiver(keys)];
    const sent = Array.from({ length: 100 }, (_, at) => packet(first + at));
    const sealed = sent.map((plain) => sender.protectRtp(plain));
    const pairs = sent.map((plain, at) => ({ plain, sealed: sealed[at], at }));
    const kept = pairs.filter(({ at }) => at === 0 || isLost[at % isLost.length] === false);

    for (const { plain, sealed: arriving } of disordered(kept, late)) {
      if (arriving === undefined) throw new Error('not sent');
      expect(receiver.unprotectRtp(arriving)).toEqual(Buffer.from(plain));
      expect(receiver.unprotectRtp(arriving)).toBeUndefined();
    }
  });
  fc.assert(property, { numRuns: 40 });
});

test('SrtpReceiver follows several roll-overs', () => {
  const keys = keysOf('AES_CM_128_HMAC_SHA1_80');
  const [sender, receiver] = [new SrtpSender(keys), new SrtpReceiver(keys)];
  const unread: number[] = [];

  // Of every 500th packet, which are sealed, one of 40 arrives.
  for (let number = 0; number < 200_001; number += 500) {
    const sealed = sender.protectRtp(packet(number));
    const isLost = number % 20_000 !== 0;
    if (sealed === undefined) unread.push(number);
    else if (!isLost && receiver.unprotectRtp(sealed) === undefined) unread.push(number);
  }

  expect(unread).toEqual([]);
});

test('SrtpReceiver reads a stream that rolled over before its first packet arrived', () => {
  const keys = keysOf('AES_CM_128_HMAC_SHA1_80');
  const [sender, receiver] = [new SrtpSender(keys), new SrtpReceiver(keys)];
  sender.protectRtp(packet(65_535));

  const arriving = [65_536, 65_537].map((number) => sender.protectRtp(packet(number)));

  expect(arriving.map((sealed) => receiver.unprotectRtp(sealed ?? Buffer.alloc(0)))).toEqual(
    [65_536, 65_537].map((number) => Buffer.from(packet(number))),
  );
});

/** Packets from 0 to that one, far enough apart that the sender counts its roll-overs and both sides stay in step. */
function* steps(to: number): Generator<number> {
  for (let number = 0; number < to; number += 30_000) yield number;
}

/** A stream that has been sent and received up to that packet. */
function runTo(to: number, sender: SrtpSender, receiver?: SrtpReceiver): void {
  for (const number of steps(to)) {
    const sealed = sender.protectRtp(packet(number));
    if (sealed !== undefined) receiver?.unprotectRtp(sealed);
  }
}

test('SrtpReceiver with new keys goes on with the roll-over counter of the old ones, or begins at 0', () => {
  const [old, next] = [keysOf('AEAD_AES_128_GCM'), keysOf('AEAD_AES_128_GCM')];
  const indices = new StreamIndices();
  runTo(170_000, new SrtpSender(old), new SrtpReceiver(old, indices));
  const [goingOn, resetting] = [new SrtpSender(next), new SrtpSender(next)];
  runTo(170_000, goingOn);

  const read = [goingOn, resetting].map((sender) => {
    const sealed = sender.protectRtp(packet(170_001)) ?? Buffer.alloc(0);
    return new SrtpReceiver(next, indices).unprotectRtp(sealed);
  });

  expect(read).toEqual([Buffer.from(packet(170_001)), Buffer.from(packet(170_001))]);
});

test('SrtpReceiver keeps the roll-over counter through two new keys, the first of which brings no packet', () => {
  const keys = [1, 2, 3].map(() => keysOf('AES_CM_128_HMAC_SHA1_80'));
  const indices = new StreamIndices();
  const [first, , third] = keys.map((each) => new SrtpReceiver(each, indices));
  const [senderBefore, , senderAfter] = keys.map((each) => new SrtpSender(each));
  if (senderBefore === undefined || senderAfter === undefined) throw new Error('no sender');
  runTo(170_000, senderBefore, first);
  runTo(170_000, senderAfter);

  const read = third?.unprotectRtp(senderAfter.protectRtp(packet(170_001)) ?? Buffer.alloc(0));

  expect(read).toEqual(Buffer.from(packet(170_001)));
});

test('SrtpReceiver keeps the roll-over counter of a stream while a thousand others come', () => {
  const keys = keysOf('AES_CM_128_HMAC_SHA1_80');
  const [sender, receiver] = [new SrtpSender(keys), new SrtpReceiver(keys)];
  runTo(170_000, sender, receiver);

  for (let other = 1; other <= 1000; other += 1) {
    const sealed = new SrtpSender(keys).protectRtp(packet(5, other)) ?? Buffer.alloc(0);
    receiver.unprotectRtp(sealed);
  }
  const read = receiver.unprotectRtp(sender.protectRtp(packet(170_001)) ?? Buffer.alloc(0));

  expect(read).toEqual(Buffer.from(packet(170_001)));
});

test('SrtpReceiver forgets no stream that is heard while others come: no packet is read twice', () => {
  const keys = keysOf('AES_CM_128_HMAC_SHA1_80');
  const [sender, receiver] = [new SrtpSender(keys), new SrtpReceiver(keys)];
  const heard: Buffer[] = [];

  for (let number = 1; number <= 280; number += 1) {
    const sealed = sender.protectRtp(packet(number)) ?? Buffer.alloc(0);
    const other = new SrtpSender(keys).protectRtp(packet(5, number)) ?? Buffer.alloc(0);
    for (const each of [sealed, other]) receiver.unprotectRtp(each);
    heard.push(sealed);
  }
  const again = heard.map((sealed) => receiver.unprotectRtp(sealed));

  expect(again.filter((plain) => plain !== undefined)).toEqual([]);
});

test('SrtpReceiver whose first packet of a stream is a report finds the roll-over counter', () => {
  const keys = keysOf('AES_CM_128_HMAC_SHA1_80');
  const [sender, receiver] = [new SrtpSender(keys), new SrtpReceiver(keys)];
  runTo(70_000, sender);
  receiver.unprotectRtcp(sender.protectRtcp(report()) ?? Buffer.alloc(0));

  const read = receiver.unprotectRtp(sender.protectRtp(packet(70_001)) ?? Buffer.alloc(0));

  expect(read).toEqual(Buffer.from(packet(70_001)));
});

test.each([
  1, 100, 20_000, 40_000, 65_000,
])('SrtpSender and SrtpReceiver go on after %d packets without their key', (missed) => {
  const keys = keysOf('AES_CM_128_HMAC_SHA1_80');
  const [sender, receiver] = [new SrtpSender(keys), new SrtpReceiver(keys)];
  runTo(170_000, sender, receiver);
  const used = sender.protectRtp(packet(170_000)) ?? Buffer.alloc(0);
  receiver.unprotectRtp(used);

  sender.resume();
  receiver.resume();
  const numbers = [170_000 + missed, 170_001 + missed];
  const sealed = numbers.map((number) => sender.protectRtp(packet(number)) ?? Buffer.alloc(0));
  const read = [...sealed, used].map((each) => receiver.unprotectRtp(each));

  expect(read).toEqual([...numbers.map((number) => Buffer.from(packet(number))), undefined]);
});

test.each(
  SUITES,
)('SrtpReceiver with %s refuses every packet that was changed, and reads the next', (suite) => {
  const keys = keysOf(suite);
  const [sender, receiver] = [new SrtpSender(keys), new SrtpReceiver(keys)];
  const sealed = sender.protectRtp(packet(7)) ?? Buffer.alloc(0);

  const changed = Array.from({ length: sealed.length }, (_, at) => {
    const forged = Buffer.from(sealed);
    forged[at] = (forged[at] ?? 0) ^ 1;
    return receiver.unprotectRtp(forged);
  });
  const cut = Array.from({ length: sealed.length }, (_, length) =>
    receiver.unprotectRtp(sealed.subarray(0, length)),
  );

  expect([...changed, ...cut].filter((plain) => plain !== undefined)).toEqual([]);
  expect(receiver.unprotectRtp(sealed)).toEqual(Buffer.from(packet(7)));
});

test.each(SUITES)('SrtpReceiver with %s reads each report once, and no changed one', (suite) => {
  const keys = keysOf(suite);
  const [sender, receiver] = [new SrtpSender(keys), new SrtpReceiver(keys)];
  const [first, second] = [report(), report()].map(
    (plain) => sender.protectRtcp(plain) ?? Buffer.alloc(0),
  );
  const forged = Buffer.from(second ?? []);
  forged[12] = (forged[12] ?? 0) ^ 1;

  const read = [first, first, forged, second].map((sealed) =>
    receiver.unprotectRtcp(sealed ?? Buffer.alloc(0)),
  );

  expect(read).toEqual([report(), undefined, undefined, report()]);
  expect(receiver.unprotectRtcp(randomBytes(20))).toBeUndefined();
});

test('SrtpReceiver reads several streams of one key', () => {
  const keys = keysOf('AES_CM_128_HMAC_SHA1_32');
  const receiver = new SrtpReceiver(keys);

  const read = [1, 2, 3].map((ssrc) =>
    receiver.unprotectRtp(new SrtpSender(keys).protectRtp(packet(5, ssrc)) ?? Buffer.alloc(0)),
  );

  expect(read).toEqual([1, 2, 3].map((ssrc) => Buffer.from(packet(5, ssrc))));
});

test('SrtpSender uses no sequence number twice', () => {
  const sender = new SrtpSender(keysOf('AES_CM_128_HMAC_SHA1_80'));

  const sent = [10, 12, 11, 11, 12, 13].map(
    (number) => sender.protectRtp(packet(number)) !== undefined,
  );

  expect(sent).toEqual([true, true, true, false, false, true]);
});

test('SrtpSender and SrtpReceiver understand werift, over a roll-over', () => {
  const ours = randomBytes(30);
  const theirs = randomBytes(30);
  const peer = new SrtpSession({
    profile: ProtectionProfileAes128CmHmacSha1_80,
    keys: {
      localMasterKey: theirs.subarray(0, 16),
      localMasterSalt: theirs.subarray(16),
      remoteMasterKey: ours.subarray(0, 16),
      remoteMasterSalt: ours.subarray(16),
    },
  });
  const suite = 'AES_CM_128_HMAC_SHA1_80';
  const sender = new SrtpSender({ suite, inline: ours.toString('base64') });
  const receiver = new SrtpReceiver({ suite, inline: theirs.toString('base64') });
  const numbers = Array.from({ length: 200 }, (_, at) => 65_436 + at);

  const there = numbers.map((number) =>
    peer.decrypt(sender.protectRtp(packet(number)) ?? Buffer.alloc(0)),
  );
  const back = numbers.map((number) => {
    const plain = packet(number);
    const { sequence = 0, timestamp = 0 } = parseRtp(plain) ?? {};
    const header = new RtpHeader({
      payloadType: 0,
      sequenceNumber: sequence,
      timestamp,
      ssrc: SSRC,
    });
    return receiver.unprotectRtp(peer.encrypt(Buffer.from(plain.subarray(12)), header));
  });

  expect(there).toEqual(numbers.map((number) => Buffer.from(packet(number))));
  expect(back).toEqual(numbers.map((number) => Buffer.from(packet(number))));
});
