/** Notices when a decoder goes round in circles; pure */

/** Longest circle looked for. */
const PERIOD_MAX = 8;

/** Rounds after which nobody can have meant it: "five five five five" is a telephone number. */
const ROUNDS = 10;

/** Tells whether the newest tokens are the same few, ten times over. */
export function isRunaway(tokens: readonly number[]): boolean {
  for (let period = 1; period <= PERIOD_MAX; period += 1) {
    if (repeatsAtEnd(tokens, period)) return true;
  }
  return false;
}

function repeatsAtEnd(tokens: readonly number[], period: number): boolean {
  const compared = period * (ROUNDS - 1);
  if (tokens.length < compared + period) return false;
  for (let back = 1; back <= compared; back += 1) {
    if (tokens[tokens.length - back] !== tokens[tokens.length - back - period]) return false;
  }
  return true;
}
