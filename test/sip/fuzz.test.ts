import { expect, test } from 'vitest';
import { type StreamFrame, StreamFramer } from '../../src/sip/parser/stream-framer.ts';
import { fuzz, mutantSeeds, seededChance } from '../support/sip/sip-mutants.ts';

const MUTANT_COUNT = 20_000;
const SEED = 4475;

/** Far above the slowest parse measured alone, for a machine that does other things meanwhile. */
const SLOWEST_MS_MAX = 100;

/** Frames as text, so that they can be compared. */
function described(frames: readonly StreamFrame[]): string[] {
  return frames.map((frame) => {
    switch (frame.kind) {
      case 'ping':
        return 'ping';
      case 'message':
        return frame.message.toBuffer().toString('latin1');
      default:
        return `${frame.kind} ${frame.error.status} ${frame.error.message}`;
    }
  });
}

test('parseMessage throws nothing but BadMessageError, and what it takes reads back the same', () => {
  const report = fuzz({ count: MUTANT_COUNT, seed: SEED });

  expect(report.accepted + report.refused + report.dropped).toBe(MUTANT_COUNT);
  expect(report.accepted).toBeGreaterThan(MUTANT_COUNT / 20);
  expect(report.slowestMs).toBeLessThan(SLOWEST_MS_MAX);
});

test('StreamFramer gives the same frames wherever the stream is split', () => {
  const pings = [Buffer.from('\r\n\r\n'), Buffer.from('\r\n')];
  const stream = Buffer.concat([
    ...pings,
    ...mutantSeeds().flatMap((octets) => [octets, ...pings]),
  ]);
  const chance = seededChance(SEED);
  const whole = new StreamFramer().push(stream);

  for (const octets of mutantSeeds()) {
    const expected = described(new StreamFramer().push(octets));
    for (let at = 0; at <= octets.length; at++) {
      const framer = new StreamFramer();
      const frames = [...framer.push(octets.subarray(0, at)), ...framer.push(octets.subarray(at))];
      expect(described(frames)).toEqual(expected);
    }
  }

  for (let round = 0; round < 20; round++) {
    const framer = new StreamFramer();
    const frames: StreamFrame[] = [];
    for (let at = 0; at < stream.length; ) {
      const end = at + 1 + Math.floor(chance() * 7);
      frames.push(...framer.push(stream.subarray(at, end)));
      at = end;
    }
    expect(described(frames)).toEqual(described(whole));
  }
});
