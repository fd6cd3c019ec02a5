/** Token choice from a decoder's logits, with its probability; pure */

/** One row of the decoder's output: a score for every token. */
export type Logits = Float32Array;

export interface TokenChoice {
  readonly token: number;
  /** Natural logarithm of its probability among the tokens that were allowed; 0 at most. */
  readonly logProbability: number;
}

/** By token, 1 where it may be chosen, else 0. */
export type AllowedTokens = Uint8Array;

/** Lower scores vanish in a float32 sum. */
const SCORE_DISTANCE_MAX = 30;

/** Allows the tokens from 0 to `lastToken`, but for those suppressed. */
export function allowedTokens(limits: {
  readonly lastToken: number;
  readonly suppressed: readonly number[];
}): AllowedTokens {
  const allowed = new Uint8Array(limits.lastToken + 1).fill(1);
  for (const token of limits.suppressed) allowed[token] = 0;
  return allowed;
}

/** Takes the likeliest of the allowed tokens; the last one where none has a score. */
export function likeliestToken(logits: Logits, allowed: AllowedTokens): TokenChoice {
  let token = allowed.length - 1;
  let highest = Number.NEGATIVE_INFINITY;
  for (let id = 0; id < allowed.length; id += 1) {
    const logit = logits[id] as number;
    if (logit > highest && allowed[id] === 1) {
      highest = logit;
      token = id;
    }
  }

  const least = highest - SCORE_DISTANCE_MAX;
  let total = 0;
  for (let id = 0; id < allowed.length; id += 1) {
    const logit = logits[id] as number;
    if (logit > least && allowed[id] === 1) total += Math.exp(logit - highest);
  }
  return { token, logProbability: total === 0 ? Number.NEGATIVE_INFINITY : -Math.log(total) };
}

/** Probability of one token among all. */
export function probabilityOf(logits: Logits, token: number): number {
  let highest = Number.NEGATIVE_INFINITY;
  for (const logit of logits) highest = Math.max(highest, logit);
  let total = 0;
  for (const logit of logits) total += Math.exp(logit - highest);
  return Math.exp((logits[token] ?? Number.NEGATIVE_INFINITY) - highest) / total;
}

/** The candidate with the highest score; undefined when there are none. */
export function likeliestOf<Name>(
  logits: Logits,
  candidates: ReadonlyMap<Name, number>,
): Name | undefined {
  let likeliest: Name | undefined;
  let highest = Number.NEGATIVE_INFINITY;
  for (const [name, token] of candidates) {
    const logit = logits[token] ?? Number.NEGATIVE_INFINITY;
    if (logit > highest) [likeliest, highest] = [name, logit];
  }
  return likeliest;
}
