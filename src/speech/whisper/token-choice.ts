/** Choosing a token from a decoder's scores, and how sure the choice is; pure */

/** One row of the decoder's output: a score for every token. */
export type Logits = Float32Array;

export interface TokenChoice {
  readonly token: number;
  /** Natural logarithm of its probability among the tokens that were allowed; 0 at most. */
  readonly logProbability: number;
}

/**
 * Takes the likeliest token of those up to `lastToken`: in Whisper's vocabularies everything after the end of
 * text is a special token or a timestamp.
 */
export function likeliestToken(
  logits: Logits,
  limits: { readonly lastToken: number; readonly suppressed: ReadonlySet<number> },
): TokenChoice {
  const { lastToken, suppressed } = limits;
  let token = lastToken;
  let highest = Number.NEGATIVE_INFINITY;
  for (let id = 0; id <= lastToken; id += 1) {
    const logit = logits[id] as number;
    if (logit > highest && !suppressed.has(id)) {
      highest = logit;
      token = id;
    }
  }

  let total = 0;
  for (let id = 0; id <= lastToken; id += 1) {
    if (!suppressed.has(id)) total += Math.exp((logits[id] as number) - highest);
  }
  return { token, logProbability: -Math.log(total) };
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
