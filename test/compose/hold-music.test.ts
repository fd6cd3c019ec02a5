/** The operator's hold music. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readHoldMusic } from '../../src/compose/hold-music.ts';
import { wavHeader } from '../../src/media/recording/wav-file.ts';
import { testFolder } from '../support/store/test-store.ts';

/** A WAV file of `seconds` in which each sample has the value 1000. */
function wavOf(seconds: number, { rateHz = 8_000, channels = 1 } = {}): Buffer {
  const samples = new Int16Array(seconds * rateHz * channels).fill(1000);
  const bytes = Buffer.from(samples.buffer);
  return Buffer.concat([wavHeader({ rateHz, channels }, bytes.length), bytes]);
}

function fileOf(bytes: Buffer): string {
  const path = join(testFolder(), 'hold.wav');
  writeFileSync(path, bytes);
  return path;
}

test.each([
  [{}, 16_000],
  [{ channels: 2 }, 16_000],
  [{ rateHz: 16_000 }, 16_000],
  [{ rateHz: 44_100, channels: 2 }, 16_000],
])('readHoldMusic gives the sound of %j as 8 kHz mono', (shape, samples) => {
  const music = readHoldMusic({ HOLD_MUSIC_FILE: fileOf(wavOf(2, shape)) });

  expect(Math.abs((music?.length ?? 0) - samples)).toBeLessThan(100);
  expect(Math.abs((music?.[8_000] ?? 0) - 1000)).toBeLessThan(50);
  expect(music?.buffer).toBeInstanceOf(SharedArrayBuffer);
});

test('readHoldMusic takes no titles behind the samples for sound', () => {
  const titles = Buffer.from('LIST....INFO'.repeat(100), 'latin1');

  const music = readHoldMusic({ HOLD_MUSIC_FILE: fileOf(Buffer.concat([wavOf(1), titles])) });

  expect(music?.length).toBe(8_000);
});

test('readHoldMusic has nothing to read without a file', () => {
  expect(readHoldMusic({ HOLD_MUSIC_FILE: undefined })).toBeUndefined();
});

const floatWav = wavOf(1);
floatWav.writeUInt16LE(3, 20);

test.each([
  ['a file that is not there', undefined, /ENOENT/],
  [
    'compressed music',
    Buffer.from('ID3 is not a WAV file'),
    /it is no WAV file, expected .*ffmpeg/,
  ],
  ['an empty file', Buffer.alloc(0), /it is no WAV file/],
  [
    'a WAV file without samples',
    wavHeader({ rateHz: 8_000, channels: 1 }, 0),
    /lasts 0\.0 seconds/,
  ],
  ['floating-point samples', floatWav, /another format, expected/],
  ['six channels', wavOf(1, { channels: 6 }), /another format, expected/],
  ['half a second', wavOf(0.5), /lasts 0\.5 seconds, expected .* from 1 to 600/],
])('readHoldMusic refuses %s and says what it expects', (_, bytes, message) => {
  const path = bytes === undefined ? join(testFolder(), 'none.wav') : fileOf(bytes);

  const read = () => readHoldMusic({ HOLD_MUSIC_FILE: path });

  expect(read).toThrow(message);
  expect(read).toThrow(`Cannot use HOLD_MUSIC_FILE "${path}"`);
});
