import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  DtmfReceiver,
  DtmfSender,
  digitOf,
  eventOf,
  type PressedDigit,
  parseTelephoneEvent,
  writeTelephoneEvent,
} from '../../src/rtp/dtmf.ts';
import type { RtpPacket } from '../../src/rtp/packet.ts';

interface Report {
  readonly digit: string;
  readonly timestamp: number;
  readonly duration: number;
  readonly isEnd?: boolean;
  readonly atMs?: number;
}

function packet(report: Report): RtpPacket {
  const event = eventOf(report.digit) ?? 16;
  const { isEnd = false, timestamp, duration: durationSamples } = report;
  const payload = writeTelephoneEvent({ event, isEnd, durationSamples });
  return { payloadType: 101, hasMarker: false, sequence: 0, timestamp, ssrc: 1, payload };
}

function press(receiver: DtmfReceiver, reports: readonly Report[]): PressedDigit[] {
  return reports.flatMap((report) => receiver.accept(packet(report), report.atMs ?? 0));
}

const BEGIN = { digit: '5', timestamp: 1000, duration: 160 };
const END = { digit: '5', timestamp: 1000, duration: 800, isEnd: true };

test.each([
  ['a whole press', [BEGIN, { ...BEGIN, duration: 320 }, END, END, END], 1],
  ['the beginning lost', [END, END, END], 1],
  ['two ends lost', [BEGIN, END], 1],
  ['an end repeated late, after the next digit', [BEGIN, END, { ...END, timestamp: 3000 }, END], 2],
  ['a report after the end', [BEGIN, END, { ...BEGIN, duration: 640 }], 1],
  [
    'the same digit again',
    [BEGIN, END, { ...BEGIN, timestamp: 3000 }, { ...END, timestamp: 3000 }],
    2,
  ],
  ['a timestamp that jumps back', [BEGIN, END, { ...END, timestamp: 3_031_609_769 }], 2],
  ['all ends lost before the same digit', [BEGIN, { ...END, timestamp: 3000 }], 2],
  [
    'a hook flash',
    [
      { ...BEGIN, digit: '' },
      { ...END, digit: '' },
    ],
    0,
  ],
])('DtmfReceiver counts once: %s', (_name, reports, expected) => {
  const receiver = new DtmfReceiver();

  const digits = press(receiver, reports);

  expect(digits.map(({ digit }) => digit)).toEqual(new Array(expected).fill('5'));
});

test('DtmfReceiver counts a press whose ends were all lost after 60 ms, and only once', () => {
  const receiver = new DtmfReceiver();
  press(receiver, [BEGIN]);

  const digits = [receiver.expire(60), receiver.expire(61), receiver.expire(500)].flat();

  expect(digits).toEqual([{ digit: '5', durationMs: 20 }]);
  expect(press(receiver, [END])).toEqual([]);
});

test('DtmfReceiver adds up the segments of a press longer than 65,535 samples', () => {
  const receiver = new DtmfReceiver();

  const digits = press(receiver, [
    { ...BEGIN, duration: 65_535 },
    { ...BEGIN, timestamp: 1000 + 65_535, duration: 160 },
    { ...END, timestamp: 1000 + 65_535, duration: 4465 },
  ]);

  expect(digits).toEqual([{ digit: '5', durationMs: 8750 }]);
});

test('DtmfReceiver goes on when the sender changes its SSRC', () => {
  const receiver = new DtmfReceiver();
  press(receiver, [BEGIN, END]);

  const digits = receiver.accept({ ...packet({ ...END, timestamp: 5 }), ssrc: 2 }, 0);

  expect(digits).toHaveLength(1);
});

test('DtmfSender says a digit for 100 ms, its end three times, and pauses 60 ms', () => {
  const sender = new DtmfSender();
  sender.add('5#');

  const packets = Array.from({ length: 17 }, () => sender.next());

  const reports = packets.slice(0, 8).map((each) => each && parseTelephoneEvent(each.payload));
  expect(reports).toEqual([
    ...[160, 320, 480, 640].map((durationSamples) => ({ event: 5, isEnd: false, durationSamples })),
    ...new Array(3).fill({ event: 5, isEnd: true, durationSamples: 800 }),
    undefined,
  ]);
  expect(packets.slice(0, 7).map((each) => each?.timestampOffset)).toEqual([
    0, 160, 320, 480, 640, 800, 960,
  ]);
  expect(packets.filter((each) => each?.hasMarker)).toHaveLength(2);
  expect(sender.isBusy).toBe(false);
});

test('DtmfSender leaves out what is no digit', () => {
  const sender = new DtmfSender();

  sender.add('x ');

  expect(sender.isBusy).toBe(false);
});

test('DtmfSender waits half a second at each w', () => {
  const sender = new DtmfSender();
  sender.add('1wW2');
  const packets = Array.from({ length: 8 + 25 + 25 + 8 }, () => sender.next());

  const sent = packets.map((packet) => packet?.digit ?? '.').join('');

  expect(sent).toBe(`1111111.${'.'.repeat(50)}2222222.`);
  expect(sender.isBusy).toBe(false);
});

test('DtmfReceiver hears 10,000 digits at 10 % loss: all of them, none twice, none invented', () => {
  const random = lossGenerator(20_260_101);
  const [sender, receiver] = [new DtmfSender(), new DtmfReceiver()];
  const sent = Array.from({ length: 10_000 }, (_, index) => digitOf(index % 16) ?? '').join('');
  const heard: string[] = [];
  let timestamp = 0;

  for (let at = 0; at < sent.length; at += 100) {
    sender.add(sent.slice(at, at + 100));
    while (sender.isBusy) {
      const next = sender.next();
      const nowMs = timestamp / 8;
      if (next !== undefined && random() >= 0.1) {
        const event = { ...packet(BEGIN), timestamp: timestamp - next.timestampOffset };
        heard.push(...receiver.accept({ ...event, payload: next.payload }, nowMs).map(name));
      }
      heard.push(...receiver.expire(nowMs).map(name));
      timestamp += 160;
    }
  }

  expect(heard.join('')).toBe(sent);
});

test('DtmfReceiver never throws and never reports anything but digits', () => {
  const payloads = fc.array(fc.tuple(fc.uint8Array({ maxLength: 6 }), fc.nat(3)), {
    maxLength: 20,
  });

  fc.assert(
    fc.property(payloads, (reports) => {
      const receiver = new DtmfReceiver();
      const digits = reports.flatMap(([payload, timestamp]) =>
        receiver.accept({ ...packet(BEGIN), payload, timestamp }, timestamp),
      );

      return digits.every(
        ({ digit, durationMs }) => eventOf(digit) !== undefined && durationMs >= 0,
      );
    }),
  );
});

function name({ digit }: PressedDigit): string {
  return digit;
}

/** A small generator with a seed, for losses that are the same in every run. */
function lossGenerator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
