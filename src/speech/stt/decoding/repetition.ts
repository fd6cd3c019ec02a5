/** Notices when a decoder goes round in circles; pure */
import { deflateSync } from 'node:zlib';

/** Longest circle looked for. */
const PERIOD_MAX = 8;

/** Rounds after which nobody can have meant it: "five five five five" is a telephone number. */
const ROUNDS = 10;

/** OpenAI's own threshold: text that shrinks by more than this says the same again and again. */
const COMPRESSION_RATIO_MAX = 2.4;

/** Tells whether the newest tokens are the same few, ten times over. */
export function isRunaway(tokens: readonly { readonly id: number }[]): boolean {
  for (let period = 1; period <= PERIOD_MAX; period += 1) {
    if (repeatsAtEnd(tokens, period)) return true;
  }
  return false;
}

/**
 * Tells whether a text repeats itself more than people do.
 *
 * @see openai/whisper, `compression_ratio_threshold`
 */
export function isRepetitive(text: string): boolean {
  const bytes = new TextEncoder().encode(text);
  return bytes.length / deflateSync(bytes).length > COMPRESSION_RATIO_MAX;
}

function repeatsAtEnd(tokens: readonly { readonly id: number }[], period: number): boolean {
  const compared = period * (ROUNDS - 1);
  if (tokens.length < compared + period) return false;
  for (let back = 1; back <= compared; back += 1) {
    if (tokens.at(-back)?.id !== tokens.at(-back - period)?.id) return false;
  }
  return true;
}
