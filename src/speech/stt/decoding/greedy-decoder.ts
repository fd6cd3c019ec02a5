/** Greedy decoding with speculation: an earlier transcript is verified in one step instead of decoded again. */

import { deflateSync } from 'node:zlib';
import { type AllowedTokens, type DecoderRun, type Logits, likeliestToken } from './decoder-run.ts';

export interface DecodedToken {
  readonly id: number;
  readonly logProbability: number;
}

export interface GreedyRequest {
  /** Tokens before the first decoded one. */
  readonly prefix: readonly number[];
  /**
   * Speculative tokens, such as those of an earlier transcript; may be empty. They are fed together with the prefix, and
   * accepted while they match the greedy choice: the result is the same as without.
   */
  readonly draft: readonly number[];
  readonly endToken: number;
  readonly allowed: AllowedTokens;
  /** Tokens allowed as the first one. */
  readonly allowedFirst: AllowedTokens;
  readonly tokensMax: number;
  readonly signal: AbortSignal;
}

export interface GreedyResult {
  readonly tokens: readonly DecodedToken[];
  /** Mean over the tokens and the end mark. */
  readonly meanLogProbability: number;
  /** Scores after each token of the prefix. */
  readonly prefixRows: readonly Logits[];
  /** Accepted tokens of the draft. */
  readonly heldDraft: number;
}

/**
 * Decodes with a new run.
 *
 * @throws the signal's reason, between two steps.
 */
export async function decodeGreedily(
  run: DecoderRun,
  request: GreedyRequest,
): Promise<GreedyResult> {
  const { prefix, endToken, tokensMax, signal } = request;
  const draft = request.draft.slice(0, tokensMax);
  signal.throwIfAborted();
  const rows = await run.step([...prefix, ...draft]);
  const prefixRows = rows.slice(0, prefix.length);

  const tokens: DecodedToken[] = [];
  const done = (sum: number, count: number) => ({
    tokens,
    meanLogProbability: sum / Math.max(1, count),
    prefixRows,
    heldDraft: heldOf(tokens, draft),
  });
  let logits = rows[prefix.length - 1] ?? new Float32Array(0);
  let sum = 0;
  let isDraftHolding = true;
  while (tokens.length < tokensMax) {
    const allowed = tokens.length === 0 ? request.allowedFirst : request.allowed;
    const { token, logProbability } = likeliestToken(logits, allowed);
    sum += logProbability;
    if (token === endToken) return done(sum, tokens.length + 1);
    const place = tokens.length;
    tokens.push({ id: token, logProbability });
    if (isRunaway(tokens)) break;
    isDraftHolding &&= draft[place] === token;
    const known = isDraftHolding ? rows[prefix.length + place] : undefined;
    signal.throwIfAborted();
    logits = known ?? (await nextRow(run, prefix.length + place, token));
  }
  return done(sum, tokens.length);
}

/** Feeds one token behind the first `fed` ones. */
async function nextRow(run: DecoderRun, fed: number, token: number): Promise<Logits> {
  if (run.tokens > fed) run.truncate(fed);
  const [row] = await run.step([token]);
  return row ?? new Float32Array(0);
}

function heldOf(tokens: readonly DecodedToken[], draft: readonly number[]): number {
  const differing = draft.findIndex((token, index) => tokens[index]?.id !== token);
  return differing < 0 ? draft.length : differing;
}

/** Longest repeated sequence, in tokens. */
const PERIOD_MAX = 8;

/** Repetitions that no speech has; "five five five five" is a telephone number. */
const ROUNDS = 10;

/** OpenAI's threshold for the compression ratio of repetitive text. */
const COMPRESSION_RATIO_MAX = 2.4;

/** Whether the newest tokens repeat one sequence ten times. */
export function isRunaway(tokens: readonly { readonly id: number }[]): boolean {
  for (let period = 1; period <= PERIOD_MAX; period += 1) {
    if (repeatsAtEnd(tokens, period)) return true;
  }
  return false;
}

/**
 * Whether a text is more repetitive than speech.
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
