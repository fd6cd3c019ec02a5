/** From what Whisper's encoder heard to tokens: the likeliest one, step by step. */
import { DecoderRun } from './decoder-run.ts';
import { isRunaway } from './repetition.ts';
import { type Logits, likeliestOf, likeliestToken, probabilityOf } from './token-choice.ts';
import type { EncodedAudio, WhisperModel } from './whisper-model.ts';

/** OpenAI's own limit: half of the model's 448 positions. */
const TOKENS_MAX = 224;

/** Nobody says more; what does is a model that has lost its way. */
const TOKENS_PER_SECOND_MAX = 16;

export interface DecodedTokens {
  readonly tokens: readonly { readonly id: number; readonly logProbability: number }[];
  /** Mean over the tokens and the end mark. */
  readonly meanLogProbability: number;
  /** `en` for models that know nothing else. */
  readonly language: string;
  readonly noSpeechProbability: number;
}

/**
 * Decodes one window.
 *
 * @param request `language` is a code the model knows, or undefined to have it detected.
 * @throws the signal's reason, between two steps.
 */
export async function decodeGreedily(
  model: WhisperModel,
  encoded: EncodedAudio,
  request: {
    readonly language: string | undefined;
    readonly audioMs: number;
    readonly signal: AbortSignal;
  },
): Promise<DecodedTokens> {
  const { signal, audioMs } = request;
  const run = new DecoderRun(model, encoded);
  const opening = await openTranscript(model, run, request.language, signal);

  const choices: { id: number; logProbability: number }[] = [];
  let logits = opening.logits;
  let sum = 0;
  const limit = tokenLimit(model, run.tokens, audioMs);
  while (choices.length < limit) {
    const { token, logProbability } = likeliestToken(logits, tokenLimits(model, choices.length));
    sum += logProbability;
    if (token === model.config.endToken) {
      return finished(choices, sum / (choices.length + 1), opening);
    }
    choices.push({ id: token, logProbability });
    if (isRunaway(choices.map(({ id }) => id))) break;
    signal.throwIfAborted();
    logits = lastOf(await run.step([token]));
  }
  return finished(choices, sum / Math.max(1, choices.length), opening);
}

interface Opening {
  readonly language: string;
  readonly noSpeechProbability: number;
  /** Scores for the transcript's first token. */
  readonly logits: Logits;
}

/** Feeds the prefix. The scores after its first token tell language and silence. */
async function openTranscript(
  model: WhisperModel,
  run: DecoderRun,
  wanted: string | undefined,
  signal: AbortSignal,
): Promise<Opening> {
  const { startToken, noSpeechToken, languageTokens } = model.config;
  signal.throwIfAborted();
  const mustDetect = wanted === undefined && languageTokens.size > 0;
  const rows = await run.step(mustDetect ? [startToken] : prefixOf(model, wanted ?? 'en'));
  const afterStart = rows[0] ?? new Float32Array(0);
  const language = wanted ?? likeliestOf(afterStart, languageTokens) ?? 'en';
  const noSpeechProbability =
    noSpeechToken === undefined ? 0 : probabilityOf(afterStart, noSpeechToken);

  let logits = lastOf(rows);
  if (mustDetect) {
    for (const token of prefixOf(model, language).slice(1)) {
      signal.throwIfAborted();
      logits = lastOf(await run.step([token]));
    }
  }
  return { language, noSpeechProbability, logits };
}

function prefixOf(model: WhisperModel, language: string): readonly number[] {
  const { startToken, transcribeToken, noTimestampsToken, languageTokens } = model.config;
  return [startToken, languageTokens.get(language), transcribeToken, noTimestampsToken].filter(
    (token) => token !== undefined,
  );
}

function tokenLimit(model: WhisperModel, prefixTokens: number, audioMs: number): number {
  const byLength = 16 + Math.ceil((audioMs / 1000) * TOKENS_PER_SECOND_MAX);
  return Math.min(TOKENS_MAX, byLength, model.config.maxTokens - prefixTokens);
}

function tokenLimits(model: WhisperModel, position: number) {
  const { endToken, suppressedTokens, suppressedFirstTokens } = model.config;
  const suppressed = new Set(
    position === 0 ? [...suppressedTokens, ...suppressedFirstTokens] : suppressedTokens,
  );
  return { lastToken: endToken, suppressed };
}

function finished(
  tokens: DecodedTokens['tokens'],
  meanLogProbability: number,
  { language, noSpeechProbability }: Opening,
): DecodedTokens {
  return { tokens, meanLogProbability, language, noSpeechProbability };
}

function lastOf(rows: readonly Logits[]): Logits {
  return rows.at(-1) ?? new Float32Array(0);
}
