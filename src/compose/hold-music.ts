/** Reads the operator's hold music, `HOLD_MUSIC_FILE`. */
import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/secret-files.ts';
import { messageOf } from '../lib/unknown-value.ts';
import { LINE_RATE_HZ } from '../media/audio-stream.ts';
import { LinePcm } from '../speech/tts/pool/line-pcm.ts';

const LENGTH_SECONDS = { min: 1, max: 600 };

const EXPECTED =
  `expected a WAV file of 16-bit PCM, mono or stereo, from ${LENGTH_SECONDS.min} to ${LENGTH_SECONDS.max} seconds long; ` +
  '"ffmpeg -i MUSIC -ac 1 -ar 8000 -c:a pcm_s16le hold.wav" makes one';

/**
 * Reads the hold music, which callers hear while a colleague is called.
 *
 * @returns 8 kHz, mono, in memory that threads share; undefined without a file.
 * @throws {ConfigError} naming the file and what is wrong with it.
 */
export function readHoldMusic({
  HOLD_MUSIC_FILE: path,
}: Pick<Config, 'HOLD_MUSIC_FILE'>): Int16Array | undefined {
  if (path === undefined) return undefined;
  try {
    return shared(musicOf(readFileSync(path)));
  } catch (error) {
    const why = messageOf(error);
    throw new ConfigError(`Cannot use HOLD_MUSIC_FILE "${path}": ${why}`, { cause: error });
  }
}

function musicOf(file: Buffer): Int16Array {
  const pcm = pcmOf(upToSamplesEnd(file));
  const seconds = pcm.length / LINE_RATE_HZ;
  if (seconds >= LENGTH_SECONDS.min && seconds <= LENGTH_SECONDS.max) return pcm;
  throw new Error(`it lasts ${seconds.toFixed(1)} seconds, ${EXPECTED}`);
}

function pcmOf(wav: Buffer): Int16Array {
  // The file's own header overrides this shape.
  const reader = new LinePcm({ rateHz: LINE_RATE_HZ, channels: 1 });
  try {
    const parts = [reader.push(wav), reader.flush()];
    const pcm = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
    pcm.set(parts[0] ?? []);
    pcm.set(parts[1] ?? [], parts[0]?.length ?? 0);
    return pcm;
  } catch (error) {
    throw new Error(`it is of another format, ${EXPECTED}`, { cause: error });
  }
}

/** The file up to the end of its samples, without later chunks such as titles. @throws {Error} when it is no WAV file. */
function upToSamplesEnd(file: Buffer): Buffer {
  const isWav =
    file.toString('latin1', 0, 4) === 'RIFF' && file.toString('latin1', 8, 12) === 'WAVE';
  for (let at = 12; isWav && at + 8 <= file.length; ) {
    const size = file.readUInt32LE(at + 4);
    if (file.toString('latin1', at, at + 4) === 'data') return file.subarray(0, at + 8 + size);
    at += 8 + size + (size % 2);
  }
  throw new Error(`it is no WAV file, ${EXPECTED}`);
}

function shared(pcm: Int16Array): Int16Array {
  const copy = new Int16Array(new SharedArrayBuffer(pcm.byteLength));
  copy.set(pcm);
  return copy;
}
