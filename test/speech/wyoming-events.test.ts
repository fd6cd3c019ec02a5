/** The Wyoming protocol's events: whole or cut into pieces, merged, and from servers that mean harm. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type WyomingEvent,
  WyomingReader,
  wyomingBytes,
  wyomingInfo,
} from '../../src/speech/network/wyoming.ts';

/** The events, or the fault. */
function read(pieces: readonly Uint8Array[]): readonly WyomingEvent[] | string {
  const reader = new WyomingReader();
  try {
    return pieces.flatMap((piece) => reader.push(piece));
  } catch (error) {
    return String(error);
  }
}

function cut(bytes: Uint8Array, sizes: readonly number[]): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

const sizes = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 8 });
const event = fc.record({
  type: fc.string(),
  data: fc.dictionary(fc.string(), fc.jsonValue()),
  payload: fc.uint8Array({ maxLength: 2000 }),
});

test('WyomingReader reads what was written, however it is cut and merged', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 8 }), sizes, (events, lengths) => {
      const bytes = Buffer.concat(
        events.map((one) => wyomingBytes(one.type, one.data, one.payload)),
      );

      const found = read(cut(bytes, lengths));

      const plain = (list: readonly WyomingEvent[]) =>
        list.map(({ type, data, payload }) => [type, JSON.stringify(data), [...payload]]);
      expect(typeof found === 'string' ? found : plain(found)).toEqual(plain(events));
    }),
    { numRuns: 500 },
  );
});

const anything = fc.oneof(fc.jsonValue(), fc.integer({ min: -5, max: 3000 }));
const header = fc
  .record({ type: fc.oneof(fc.string(), anything), data: anything }, { requiredKeys: [] })
  .chain((fields) =>
    fc
      .record({ data_length: anything, payload_length: anything }, { requiredKeys: [] })
      .map((lengths) => JSON.stringify({ ...fields, ...lengths })),
  );
const hostile = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      header.map((line) => Buffer.from(`${line}\n`)),
      fc.constant(Buffer.from('\n')),
      fc.constant(Buffer.from('HTTP/1.1 400 Bad Request\r\n')),
    ),
    { maxLength: 8 },
  )
  .map((parts) => Buffer.concat(parts));

test('WyomingReader takes any bytes for events or a plain fault, the same however they are cut', () => {
  fc.assert(
    fc.property(hostile, sizes, (bytes, lengths) => {
      const whole = read([bytes]);

      const pieces = read(cut(bytes, lengths));

      if (typeof whole === 'string') expect(whole).toMatch(/^Error: it (sent|does not speak) /);
      expect(pieces).toEqual(whole);
    }),
    { numRuns: 1500 },
  );
});

test.each([
  ['a line without an end', Buffer.alloc(1024 * 1024 + 1, 'a'), 'an endless line'],
  ['too much data', '{"type":"x","data_length":1048577}\n', 'an impossible length'],
  ['too much audio', '{"type":"x","payload_length":4194305}\n', 'an impossible length'],
  ['a negative length', '{"type":"x","payload_length":-1}\n', 'an impossible length'],
  ['half a byte', '{"type":"x","data_length":0.5}\n', 'an impossible length'],
  ['no type', '{"data":{}}\n', 'without a type'],
  ['a list', '[1]\n', 'does not speak the Wyoming protocol'],
  ['data that is no object', '{"type":"x","data_length":1}\n1', 'does not speak the Wyoming'],
])('WyomingReader refuses %s', (_case, text, fault) => {
  expect(read([Buffer.from(text)])).toContain(fault);
});

test('WyomingReader merges the data after the header over the header’s own, and takes null for no length', () => {
  const text = '{"type":"x","data":{"a":1,"b":1},"data_length":7,"payload_length":null}\n{"b":2}';

  const [first] = read([Buffer.from(text)]) as readonly WyomingEvent[];

  expect(first).toMatchObject({ type: 'x', data: { a: 1, b: 2 } });
});

test('wyomingInfo reads models, voices and speakers that are installed', () => {
  const voice = { name: 'libritts', languages: ['en_US'], speakers: [{ name: 'p1' }, {}] };
  const info = wyomingInfo({
    asr: [{ installed: true, models: [{ name: 'base', languages: ['en', 5] }, { languages: [] }] }],
    tts: [
      { voices: [voice, { name: 'gone', installed: false }], supports_synthesize_streaming: true },
      { installed: false, voices: [{ name: 'other' }] },
    ],
  });

  expect(info).toEqual({
    models: [{ name: 'base', languages: ['en'], speakers: [] }],
    voices: [{ name: 'libritts', languages: ['en_US'], speakers: ['p1'] }],
    takesTextStream: true,
  });
});

test('wyomingInfo takes data of any form', () => {
  const artifact = fc.record(
    { name: anything, languages: anything, speakers: anything, installed: anything },
    { requiredKeys: [] },
  );
  const program = fc.record(
    {
      models: fc.oneof(fc.array(artifact), anything),
      voices: fc.oneof(fc.array(artifact), anything),
    },
    { requiredKeys: [] },
  );
  const list = fc.oneof(fc.array(fc.oneof(program, anything)), anything);
  fc.assert(
    fc.property(fc.record({ asr: list, tts: list }, { requiredKeys: [] }), (data) => {
      const { models, voices } = wyomingInfo(data);

      const names = [...(models ?? []), ...(voices ?? [])].flatMap(
        ({ name, languages, speakers }) => [name, ...[...languages, ...speakers]],
      );
      expect(names.every((name) => typeof name === 'string' && name !== '')).toBe(true);
    }),
    { numRuns: 1000 },
  );
});
