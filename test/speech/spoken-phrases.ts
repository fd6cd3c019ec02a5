/** The phrases of test/fixtures/speech: what a caller says and what that says in writing. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = new URL('../fixtures/speech/', import.meta.url);
const WAV_HEADER_BYTES = 44;

export interface SpokenPhrase {
  readonly file: string;
  readonly text: string;
  readonly language: 'en' | 'es';
}

export const SPOKEN_PHRASES = JSON.parse(
  readFileSync(new URL('phrases.json', FOLDER), 'utf8'),
) as readonly SpokenPhrase[];

export const TINY_WHISPER_DIR = modelPath('whisper');
export const TINY_VAD_PATH = modelPath('vad/silero_shaped.onnx');

/** Reads a phrase: 8 kHz, mono, signed 16-bit, 300 ms of silence before and after it. */
export function readPhrase(file: string): Int16Array {
  const bytes = readFileSync(new URL(file, FOLDER));
  return new Int16Array(Uint8Array.from(bytes.subarray(WAV_HEADER_BYTES)).buffer);
}

/** The phrase written like `text`. */
export function phraseSaying(text: string): Int16Array {
  const phrase = SPOKEN_PHRASES.find((other) => other.text === text);
  if (phrase === undefined) throw new RangeError(`No fixture says "${text}"`);
  return readPhrase(phrase.file);
}

function modelPath(path: string): string {
  return fileURLToPath(new URL(`../../models/tiny/${path}`, import.meta.url));
}
