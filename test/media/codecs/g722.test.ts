/** Our G.722 against spandsp's (Debian: libspandsp2), bit for bit, and against a digest where that is not installed. */
import { createHash } from 'node:crypto';
import koffi from 'koffi';
import { describe, expect, test } from 'vitest';
import { G722Decoder, G722Encoder } from '../../../src/media/codecs/g722.ts';

const SAMPLES = 32_000;

/** Its mode for a line of 8 kHz. */
const RATE_8000 = 1;

/** tones that swell, noise at full scale, near silence. */
const SOUND = Int16Array.from({ length: SAMPLES }, (_, at) => {
  const tone = 20_000 * Math.sin(at / 9) * Math.sin(at / 4000);
  const noise = at % 8000 > 6000 ? 60_000 : 300;
  return Math.max(-32_768, Math.min(32_767, Math.round(tone + noise * chance(at))));
});

const ALL_CODES = Uint8Array.from({ length: SAMPLES }, (_, at) => (chance(at) + 0.5) * 256);

function chance(at: number): number {
  const mixed = Math.imul(Math.imul(at + 1, 0x9e37_79b1) ^ (at >>> 3), 0x85eb_ca6b) >>> 0;
  return mixed / 2 ** 32 - 0.5;
}

function encode(pcm: Int16Array): Uint8Array {
  const bytes = new Uint8Array(pcm.length);
  new G722Encoder().encodeInto(pcm, bytes, 0);
  return bytes;
}

function spandsp() {
  try {
    const library = koffi.load('libspandsp.so.2');
    const openEncoder = library.func('void* g722_encode_init(void*, int, int)');
    const openDecoder = library.func('void* g722_decode_init(void*, int, int)');
    const run = {
      encode: library.func('int g722_encode(void*, _Out_ uint8_t*, const int16_t*, int)'),
      decode: library.func('int g722_decode(void*, _Out_ int16_t*, const uint8_t*, int)'),
    };
    return {
      encode: (pcm: Int16Array) => {
        const bytes = new Uint8Array(pcm.length);
        run.encode(openEncoder(null, 64_000, RATE_8000), bytes, pcm, pcm.length);
        return bytes;
      },
      decode: (bytes: Uint8Array) => {
        const pcm = new Int16Array(bytes.length);
        run.decode(openDecoder(null, 64_000, RATE_8000), pcm, bytes, bytes.length);
        return pcm;
      },
    };
  } catch {
    process.stderr.write('skipped: needs libspandsp2 (G.722 against spandsp)\n');
    return undefined;
  }
}

const theirs = spandsp();

describe.skipIf(theirs === undefined)('spandsp', () => {
  test('encodes to the same bytes', () => {
    const expected = theirs?.encode(SOUND);

    const bytes = encode(SOUND);

    expect(Buffer.compare(bytes, expected ?? bytes.subarray(1))).toBe(0);
  });

  test.each([
    ['a stream', encode(SOUND)],
    ['every code in any order', ALL_CODES],
  ])('decodes %s to the same samples', (_, bytes) => {
    const expected = theirs?.decode(bytes);

    const pcm = new G722Decoder().decode(bytes);

    expect(pcm).toEqual(expected);
  });
});

test('G722Encoder and G722Decoder give what they gave when they were held against spandsp', () => {
  const bytes = encode(SOUND);
  const pcm = new G722Decoder().decode(bytes);

  expect(digest(bytes)).toBe('a42dd95e928499c0');
  expect(digest(new Uint8Array(pcm.buffer))).toBe('81b9541dd2e4343a');
});

test('G722Decoder gives back a voice that G722Encoder took, and finds its way after a lost packet', () => {
  const voice = Int16Array.from(
    { length: 8000 },
    (_, at) => 9000 * Math.sin((at * 2 * Math.PI) / 23),
  );
  const bytes = encode(voice);
  const decoder = new G722Decoder();

  const before = decoder.decode(bytes.subarray(0, 3200));
  const after = decoder.decode(bytes.subarray(3360));

  expect(noiseDb(voice.subarray(800, 3200), before.subarray(800))).toBeLessThan(-30);
  expect(noiseDb(voice.subarray(5360), after.subarray(2000))).toBeLessThan(-30);
});

/** Level of the difference, against that of the sound. */
function noiseDb(expected: Int16Array, actual: Int16Array): number {
  const power = (values: readonly number[]) => values.reduce((sum, value) => sum + value ** 2, 0);
  const differences = [...expected].map((value, at) => value - (actual[at] ?? 0));
  return 10 * Math.log10(power(differences) / power([...expected]));
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}
