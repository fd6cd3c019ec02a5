/** What the doubles of speech servers hear and say: our own tiny recogniser, and a tone that no voice has. */
import { openRecognizer } from '../../../src/speech/stt/whisper/whisper-recognizer.ts';
import { TINY_WHISPER_DIR } from '../../speech/spoken-phrases.ts';

/** The frequency of the servers' voice. */
export const SERVER_VOICE_HZ = 700;

export const MS_PER_CHARACTER = 60;

/** Their audio comes in pieces of this length. */
export const PIECE_MS = 100;

/** A part of the tone: mono, signed 16-bit. */
export function toneBytes(rateHz: number, fromMs: number, durationMs: number): Buffer {
  const samples = Int16Array.from({ length: (durationMs * rateHz) / 1000 }, (_, index) =>
    Math.round(9000 * Math.sin(2 * Math.PI * SERVER_VOICE_HZ * (fromMs / 1000 + index / rateHz))),
  );
  return Buffer.from(samples.buffer);
}

let recognizer: ReturnType<typeof openRecognizer> | undefined;

/** @param pcm 16 kHz; every other sample is left out, as the telephone's band is all there is. */
export async function hear(pcm: Int16Array, language: string) {
  recognizer ??= openRecognizer(TINY_WHISPER_DIR);
  const stream = (await recognizer).open({ language });
  stream.push(pcm.filter((_, index) => index % 2 === 0));
  return stream.transcribe({ isFinal: true, signal: new AbortController().signal });
}
