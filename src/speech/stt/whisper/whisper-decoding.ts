/** From what Whisper's encoder heard to tokens: language and silence first, then the words. */
import { type AttentionHead, DecoderRun } from '../decoding/decoder-run.ts';
import { type DecodedToken, decodeGreedily } from '../decoding/greedy-decoder.ts';
import { type Logits, likeliestOf, probabilityOf } from '../decoding/token-choice.ts';
import type { EncodedAudio } from './encoder.ts';
import type { WhisperModel } from './whisper-model.ts';

/** OpenAI's own limit: half of the model's 448 positions. */
const TOKENS_MAX = 224;

/** Nobody says more; what does is a model that has lost its way. */
const TOKENS_PER_SECOND_MAX = 16;

export interface DecodedWindow {
  readonly tokens: readonly DecodedToken[];
  /** Mean over the tokens and the end mark. */
  readonly meanLogProbability: number;
  /** `en` for models that know nothing else. */
  readonly language: string;
  readonly noSpeechProbability: number;
  /**
   * Where the model's alignment heads listened while each token was chosen: the shares of one head after the other's.
   * Empty where the export does not tell.
   */
  readonly attentions: readonly Float32Array[];
}

export interface WindowRequest {
  /** A code the model knows, or undefined to have it detected. */
  readonly language: string | undefined;
  /** Tokens of what the words are likely to be about; may be empty. */
  readonly prompt: readonly number[];
  /** Tokens that an earlier request about the same utterance gave; may be empty. */
  readonly draft: readonly number[];
  readonly audioMs: number;
  readonly signal: AbortSignal;
}

/**
 * Decodes one window.
 *
 * @throws the signal's reason, between two steps.
 */
export async function decodeWindow(
  model: WhisperModel,
  encoded: EncodedAudio,
  request: WindowRequest,
): Promise<DecodedWindow> {
  const { config, decoder } = model;
  const { signal, draft } = request;
  const before = previousOf(model, request.prompt);
  const language = request.language ?? (await detectLanguage(model, encoded, before, signal));
  const prefix = [...before, ...openingOf(model, language)];
  const run = new DecoderRun(decoder, encoded, decoder.hasAttentions ? alignmentHeads(model) : []);
  const decoded = await decodeGreedily(run, {
    prefix,
    draft,
    endToken: config.endToken,
    allowed: model.allowed,
    allowedFirst: model.allowedFirst,
    tokensMax: tokenLimit(model, prefix.length, request.audioMs),
    signal,
  });
  const { tokens, meanLogProbability, prefixRows } = decoded;
  return {
    tokens,
    meanLogProbability,
    language,
    noSpeechProbability: noSpeechIn(model, prefixRows[before.length]),
    attentions: run.attentions.slice(prefix.length - 1, prefix.length - 1 + tokens.length),
  };
}

/** What was said before, as Whisper was trained to take it. */
function previousOf({ config }: WhisperModel, prompt: readonly number[]): readonly number[] {
  if (config.previousToken === undefined || prompt.length === 0) return [];
  return [config.previousToken, ...prompt];
}

function openingOf({ config }: WhisperModel, language: string): readonly number[] {
  const { startToken, transcribeToken, noTimestampsToken, languageTokens } = config;
  return [startToken, languageTokens.get(language), transcribeToken, noTimestampsToken].filter(
    (token) => token !== undefined,
  );
}

/** Costs one step: the scores after the start mark tell. `en` for models that know nothing else. */
async function detectLanguage(
  model: WhisperModel,
  encoded: EncodedAudio,
  before: readonly number[],
  signal: AbortSignal,
): Promise<string> {
  const { languageTokens, startToken } = model.config;
  if (languageTokens.size === 0) return 'en';
  signal.throwIfAborted();
  const rows = await new DecoderRun(model.decoder, encoded).step([...before, startToken]);
  return likeliestOf(rows.at(-1) ?? new Float32Array(0), languageTokens) ?? 'en';
}

function noSpeechIn({ config }: WhisperModel, afterStart: Logits | undefined): number {
  if (config.noSpeechToken === undefined || afterStart === undefined) return 0;
  return probabilityOf(afterStart, config.noSpeechToken);
}

function alignmentHeads({ config }: WhisperModel): readonly AttentionHead[] {
  return config.alignmentHeads;
}

function tokenLimit({ config }: WhisperModel, prefixTokens: number, audioMs: number): number {
  const byLength = 16 + Math.ceil((audioMs / 1000) * TOKENS_PER_SECOND_MAX);
  return Math.min(TOKENS_MAX, byLength, config.maxTokens - prefixTokens);
}
