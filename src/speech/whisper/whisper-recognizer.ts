/** Whisper as a recogniser: features grow with the audio, one encoder run and a greedy decoder at each request. */
import type { RecognizedWord } from '../hearing.ts';
import { LineUpsampler } from '../line-upsampler.ts';
import type { Recognition, Recognizer, UtteranceStream } from '../recognizer.ts';
import { type DecodedTokens, decodeGreedily } from './greedy-decoder.ts';
import { FULL_WINDOW_FRAMES, LogMel } from './log-mel.ts';
import { MODEL_RATE_HZ } from './mel-filters.ts';
import type { Tokenizer } from './tokenizer.ts';
import { loadWhisperModel, type WhisperModel } from './whisper-model.ts';

/** Less than this is no word. */
const AUDIO_MS_MIN = 100;

/**
 * Whisper was trained on 30 s and loses its way in windows that end with the last word.
 *
 * @see whisper.cpp issues 1855 and 1951
 */
const WINDOW_FRAMES_MIN = 500;
const WINDOW_MARGIN_FRAMES = 250;

/** OpenAI's threshold for trying again. */
const MEAN_LOG_PROBABILITY_MIN = -1;

/**
 * Loads a Whisper export.
 *
 * @param modelPath its folder.
 * @throws {ModelFileError}
 */
export async function openRecognizer(modelPath: string): Promise<Recognizer> {
  const model = await loadWhisperModel(modelPath);
  return {
    open: ({ language }) => new WhisperStream(model, knownLanguage(model, language)),
    close: () => model.close(),
  };
}

/** `en` of `en-US`; undefined when the model does not know it. */
function knownLanguage(model: WhisperModel, language: string): string | undefined {
  const code = language.split('-')[0]?.toLowerCase() ?? '';
  return model.config.languageTokens.has(code) ? code : undefined;
}

class WhisperStream implements UtteranceStream {
  readonly #model: WhisperModel;
  readonly #language: string | undefined;
  readonly #upsampler = new LineUpsampler();
  readonly #mel: LogMel;

  constructor(model: WhisperModel, language: string | undefined) {
    this.#model = model;
    this.#language = language;
    this.#mel = new LogMel({ melCount: model.config.melCount });
  }

  push(pcm: Int16Array): void {
    this.#mel.push(this.#upsampler.push(pcm));
  }

  async transcribe(request: {
    readonly isFinal: boolean;
    readonly signal: AbortSignal;
  }): Promise<Recognition> {
    const audioMs = (this.#mel.samples * 1000) / MODEL_RATE_HZ;
    if (audioMs < AUDIO_MS_MIN) return nothingHeard(this.#language ?? 'en', audioMs);

    const frames = this.#model.hasFreeWindow ? shortWindow(this.#mel.frames) : FULL_WINDOW_FRAMES;
    const decoded = await this.#decode(frames, audioMs, request.signal);
    const isDoubtful = decoded.meanLogProbability < MEAN_LOG_PROBABILITY_MIN;
    if (!request.isFinal || !isDoubtful || frames === FULL_WINDOW_FRAMES) {
      return recognitionOf(this.#model, decoded, audioMs);
    }
    const again = await this.#decode(FULL_WINDOW_FRAMES, audioMs, request.signal);
    const isBetter = again.meanLogProbability > decoded.meanLogProbability;
    return recognitionOf(this.#model, isBetter ? again : decoded, audioMs);
  }

  async #decode(frames: number, audioMs: number, signal: AbortSignal): Promise<DecodedTokens> {
    signal.throwIfAborted();
    const encoded = await this.#model.encode(this.#mel.features(frames));
    return decodeGreedily(this.#model, encoded, { language: this.#language, audioMs, signal });
  }
}

function shortWindow(frames: number): number {
  return Math.min(FULL_WINDOW_FRAMES, Math.max(WINDOW_FRAMES_MIN, frames + WINDOW_MARGIN_FRAMES));
}

function nothingHeard(language: string, audioMs: number): Recognition {
  return { text: '', words: [], confidence: 0, language, noSpeechProbability: 1, audioMs };
}

function recognitionOf(model: WhisperModel, decoded: DecodedTokens, audioMs: number): Recognition {
  const ids = decoded.tokens.map(({ id }) => id);
  return {
    text: model.tokenizer.decode(ids).trim(),
    words: wordsOf(model.tokenizer, decoded.tokens),
    confidence: Math.exp(decoded.meanLogProbability),
    language: decoded.language,
    noSpeechProbability: decoded.noSpeechProbability,
    audioMs,
  };
}

/** Joins tokens to words; a word is as sure as its least sure token. */
function wordsOf(tokenizer: Tokenizer, tokens: DecodedTokens['tokens']): readonly RecognizedWord[] {
  const groups: (typeof tokens)[number][][] = [];
  for (const token of tokens) {
    const current = groups.at(-1);
    if (current === undefined || tokenizer.startsWord(token.id)) groups.push([token]);
    else current.push(token);
  }
  return groups.map((group) => ({
    text: tokenizer.decode(group.map(({ id }) => id)).trim(),
    confidence: Math.exp(Math.min(...group.map(({ logProbability }) => logProbability))),
  }));
}
