/** Whisper speech recognition: mel features grow with the audio; each request runs the encoder once and decodes greedily. */
import { languageOf } from '../../../lib/language-tag.ts';
import { VoicedSpan } from '../../vad/vad-gate.ts';
import {
  type AttentionHead,
  DecoderRun,
  type Logits,
  likeliestOf,
  probabilityOf,
} from '../decoding/decoder-run.ts';
import { type DecodedToken, decodeGreedily, isRepetitive } from '../decoding/greedy-decoder.ts';
import { agreedWords, type SpokenTimes, tokenStarts, wordsOf } from '../decoding/word-times.ts';
import { FULL_WINDOW_FRAMES, LogMel, MODEL_RATE_HZ } from '../features/log-mel.ts';
import { Upsampler } from '../features/resampler.ts';
import {
  AUDIO_MS_MIN,
  nothingHeard,
  type Recognition,
  type RecognizedWord,
  type Recognizer,
  type RecognizerOptions,
  type UtteranceStream,
} from '../pool/recognizer.ts';
import { type EncodedAudio, loadWhisperModel, type WhisperModel } from './whisper-model.ts';

/**
 * Silence after the last word: Whisper was trained on 30 s, and hallucinates in windows that end with speech.
 *
 * @see whisper.cpp issues 1855 and 1951
 */
const WINDOW_FRAMES_MIN = 500;
const WINDOW_MARGIN_FRAMES = 250;

const WINDOW_FIXED =
  'it hears 30 s at a time however short they are, which is slow, because it is not prepared: "npm run models" prepares exports by optimum, best their "_quantized" files';

/** OpenAI's threshold for trying again. */
const MEAN_LOG_PROBABILITY_MIN = -1;

/** Prompt limit: half of Whisper's text positions, less the start mark. */
const PROMPT_TOKENS_MAX = 223;

/**
 * Loads a Whisper export.
 *
 * Word times come from the alignment heads where the export gives `cross_attentions.*` and `generation_config.json` names
 * the heads; else the voiced span is divided by the words' letters.
 *
 * @param modelPath its folder.
 * @throws {ModelFileError}
 */
export async function openRecognizer(
  modelPath: string,
  { threads = 1 }: RecognizerOptions = {},
): Promise<Recognizer> {
  const model = await loadWhisperModel(modelPath, threads);
  return {
    ...(model.encoder.isWindowFixed && { drawback: WINDOW_FIXED }),
    open: ({ language, prompt = '' }) =>
      new WhisperStream(model, knownLanguage(model, language), promptTokens(model, prompt)),
    close: () => model.close(),
  };
}

/** `en` of `en-US`; undefined when the model does not know it. */
function knownLanguage(model: WhisperModel, language: string): string | undefined {
  const code = languageOf(language);
  return model.config.languageTokens.has(code) ? code : undefined;
}

function promptTokens({ tokenizer }: WhisperModel, prompt: string): readonly number[] {
  const text = prompt.trim();
  if (text === '' || !tokenizer.canEncode) return [];
  return tokenizer.encode(` ${text}`).slice(0, PROMPT_TOKENS_MAX);
}

/** Parameters of one decoding attempt. */
interface Attempt {
  readonly frames: number;
  readonly prompt: readonly number[];
  readonly draft: readonly number[];
}

class WhisperStream implements UtteranceStream {
  readonly #model: WhisperModel;
  readonly #language: string | undefined;
  readonly #prompt: readonly number[];
  readonly #upsampler = new Upsampler();
  readonly #mel: LogMel;
  readonly #voiced = new VoicedSpan();
  /** Tokens of the previous transcript, most of which the next one repeats. */
  #draft: readonly number[] = [];
  #words: readonly RecognizedWord[] = [];

  constructor(model: WhisperModel, language: string | undefined, prompt: readonly number[]) {
    this.#model = model;
    this.#language = language;
    this.#prompt = prompt;
    this.#mel = new LogMel({ melCount: model.config.melCount });
  }

  push(pcm: Int16Array): void {
    this.#mel.push(this.#upsampler.push(pcm));
    this.#voiced.push(pcm);
  }

  async transcribe(request: {
    readonly isFinal: boolean;
    readonly signal: AbortSignal;
  }): Promise<Recognition> {
    const { isFinal, signal } = request;
    const audioMs = (this.#mel.samples * 1000) / MODEL_RATE_HZ;
    if (audioMs < AUDIO_MS_MIN) return nothingHeard(this.#language ?? 'en', audioMs);

    const { isWindowFixed } = this.#model.encoder;
    const frames = isWindowFixed ? FULL_WINDOW_FRAMES : shortWindow(this.#mel.frames);
    const attempt = { frames, prompt: this.#prompt, draft: this.#draft };
    const decoded = await this.#decode(attempt, audioMs, signal);
    const mayTryHarder = frames < FULL_WINDOW_FRAMES || this.#prompt.length > 0;
    if (!isFinal || !mayTryHarder || !this.#isDoubtful(decoded)) {
      return this.#recognition(decoded, audioMs);
    }
    const harder = { frames: FULL_WINDOW_FRAMES, prompt: [], draft: [] };
    const again = await this.#decode(harder, audioMs, signal);
    return this.#recognition(this.#isBetter(again, decoded) ? again : decoded, audioMs);
  }

  async #decode(attempt: Attempt, audioMs: number, signal: AbortSignal): Promise<DecodedWindow> {
    const { frames, prompt, draft } = attempt;
    signal.throwIfAborted();
    const encoded = await this.#model.encoder.encode(this.#mel.features(frames));
    const language = this.#language;
    return decodeWindow(this.#model, encoded, { language, prompt, draft, audioMs, signal });
  }

  #isDoubtful(decoded: DecodedWindow): boolean {
    return (
      decoded.meanLogProbability < MEAN_LOG_PROBABILITY_MIN || isRepetitive(this.#textOf(decoded))
    );
  }

  #isBetter(decoded: DecodedWindow, other: DecodedWindow): boolean {
    const [repeats, otherRepeats] = [decoded, other].map((one) => isRepetitive(this.#textOf(one)));
    if (repeats !== otherRepeats) return otherRepeats === true;
    return decoded.meanLogProbability > other.meanLogProbability;
  }

  #textOf({ tokens }: DecodedWindow): string {
    return this.#model.tokenizer.decode(tokens.map(({ id }) => id)).trim();
  }

  #recognition(decoded: DecodedWindow, audioMs: number): Recognition {
    const { tokens, meanLogProbability, language, noSpeechProbability } = decoded;
    const words = wordsOf(this.#model.tokenizer, tokens, this.#timesOf(decoded));
    const agreed = agreedWords(words, this.#words);
    this.#draft = tokens.map(({ id }) => id);
    this.#words = words;
    return {
      text: this.#textOf(decoded),
      words,
      confidence: Math.exp(meanLogProbability),
      language,
      noSpeechProbability,
      agreedWords: agreed,
      audioMs,
    };
  }

  #timesOf({ attentions }: DecodedWindow): SpokenTimes {
    const { span } = this.#voiced;
    if (attentions.length === 0) return { kind: 'span', ...span };
    const heads = this.#model.config.alignmentHeads.length;
    return { kind: 'tokens', startsMs: tokenStarts(attentions, heads, span) };
  }
}

function shortWindow(frames: number): number {
  return Math.min(FULL_WINDOW_FRAMES, Math.max(WINDOW_FRAMES_MIN, frames + WINDOW_MARGIN_FRAMES));
}

/** OpenAI's limit: half of the model's 448 positions. */
const TOKENS_MAX = 224;

/** Faster speech does not occur; a longer answer is a hallucination. */
const TOKENS_PER_SECOND_MAX = 16;

/** Result of decoding one window. */
interface DecodedWindow {
  readonly tokens: readonly DecodedToken[];
  /** Mean over the tokens and the end mark. */
  readonly meanLogProbability: number;
  /** `en` for monolingual models. */
  readonly language: string;
  readonly noSpeechProbability: number;
  /**
   * Cross-attention of the alignment heads for each token: the weights of one head after the other's. Empty where the
   * export gives none.
   */
  readonly attentions: readonly Float32Array[];
}

interface WindowRequest {
  /** A language code of the model; undefined for detection. */
  readonly language: string | undefined;
  /** Tokens of the prompt; may be empty. */
  readonly prompt: readonly number[];
  /** Tokens of an earlier request for the same utterance; may be empty. */
  readonly draft: readonly number[];
  readonly audioMs: number;
  readonly signal: AbortSignal;
}

/**
 * Decodes one window.
 *
 * @throws the signal's reason, between two steps.
 */
async function decodeWindow(
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

/** The prompt as Whisper was trained to take it: as the previous text. */
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

/** Detects the language by the scores after the start mark, which costs one step; `en` for monolingual models. */
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
