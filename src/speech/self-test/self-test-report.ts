/** The self-test's report: figures, verdicts, calls that a machine can carry, and the estimated speed of models that are not installed; pure */

/** Result of one voice engine. */
export interface VoiceResult {
  readonly engine: string;
  readonly version: string;
  /** Names as agents have them. */
  readonly voices: readonly string[];
  readonly sentences: number;
  readonly planned: number;
  /** Time to the first sound of each sentence. */
  readonly firstSoundMs: readonly number[];
  /** Time of synthesis over length of sound; NaN where there was no sound. */
  readonly realTimeFactor: number;
  readonly audioSeconds: number;
  readonly failure: string | null;
}

/** Result of a recogniser for one voice engine's sentences of one language. */
export interface HeardResult {
  /** Voice engine. */
  readonly voices: string;
  readonly language: string;
  readonly line: 'clean' | 'babble';
  readonly sentences: number;
  readonly words: number;
  readonly errors: number;
}

export interface RecognizerResult {
  readonly engine: string;
  readonly model: string;
  readonly sentences: number;
  readonly planned: number;
  readonly heard: readonly HeardResult[];
  /** Time from the request to the text, of each sentence. */
  readonly answerMs: readonly number[];
  readonly realTimeFactor: number;
  readonly failure: string | null;
}

export interface LanguageModelResult {
  readonly engine: string;
  /** Fixed rules answer: no language model is installed. */
  readonly isRuleBook: boolean;
  readonly firstTextMs: readonly number[];
  /** Why this model answers. */
  readonly reason: string;
  readonly failure: string | null;
}

export interface Machine {
  readonly offhook: string;
  readonly node: string;
  readonly platform: string;
  readonly cores: number;
  readonly memoryGb: number;
  /** Recogniser processes, and the threads of each. */
  readonly processes: number;
  readonly threads: number;
}

export interface SelfTestReport {
  readonly machine: Machine;
  readonly voices: readonly VoiceResult[];
  readonly recognizers: readonly RecognizerResult[];
  readonly estimates: SpeedEstimates;
  readonly languageModel: LanguageModelResult | null;
  readonly tookSeconds: number;
}

export interface Verdict {
  readonly subject: string;
  readonly kind: 'ok' | 'too slow' | 'not tried' | 'failed';
  readonly reason: string;
}

/** A caller who waits longer for any of these finds the agent slow. */
const FIRST_SOUND_MS_MAX = 700;
export const ANSWER_MS_MAX = 700;
const FIRST_TEXT_MS_MAX = 1500;

/** A voice that needs longer for its sound than the sound lasts stutters; some time is left for other calls. */
const VOICE_FACTOR_MAX = 0.8;

/** A recogniser that gets more wrong of clean speech, in its best language, is broken. */
const CLEAN_PERCENT_MAX = 75;

/** The verdict on every engine. */
export function verdictsOf(report: SelfTestReport): readonly Verdict[] {
  const { voices, recognizers, languageModel } = report;
  return [
    ...voices.map(verdictOfVoice),
    ...recognizers.map(verdictOfRecognizer),
    ...(languageModel === null ? [] : [verdictOfModel(languageModel)]),
  ];
}

function verdictOfVoice(result: VoiceResult): Verdict {
  const { engine, failure, firstSoundMs, realTimeFactor } = result;
  const subject = `voice ${engine}`;
  if (failure !== null) return { subject, kind: 'failed', reason: failure };
  if (result.planned === 0) {
    return { subject, kind: 'not tried', reason: 'no installed voice has a language of the test' };
  }
  const first = medianOf(firstSoundMs);
  if (first > FIRST_SOUND_MS_MAX) {
    const reason = `first sound after ${first.toFixed(0)} ms, more than ${FIRST_SOUND_MS_MAX}`;
    return { subject, kind: 'too slow', reason };
  }
  if (realTimeFactor > VOICE_FACTOR_MAX) {
    const reason = `takes ${realTimeFactor.toFixed(2)} of the time that its sound lasts, more than ${VOICE_FACTOR_MAX}`;
    return { subject, kind: 'too slow', reason };
  }
  return { subject, kind: 'ok', reason: `first sound after ${first.toFixed(0)} ms` };
}

function verdictOfRecognizer({ model, failure, answerMs, heard }: RecognizerResult): Verdict {
  const subject = `recogniser ${model}`;
  if (failure !== null) return { subject, kind: 'failed', reason: failure };
  if (heard.length === 0) {
    return { subject, kind: 'not tried', reason: 'no voice said a sentence in a language of its' };
  }
  const rates = heard.filter(({ line }) => line === 'clean').map(errorPercent);
  const best = Math.min(...rates);
  if (best > CLEAN_PERCENT_MAX) {
    const reason = `${best.toFixed(0)} % of the words wrong on a clean line, at best`;
    return { subject, kind: 'failed', reason };
  }
  const median = medianOf(answerMs);
  const reason = `a sentence takes ${median.toFixed(0)} ms`;
  if (median <= ANSWER_MS_MAX) return { subject, kind: 'ok', reason };
  return { subject, kind: 'too slow', reason: `${reason}, more than ${ANSWER_MS_MAX}` };
}

function verdictOfModel(result: LanguageModelResult): Verdict {
  const { engine, failure, firstTextMs, isRuleBook } = result;
  const subject = `language model ${engine}`;
  if (failure !== null) return { subject, kind: 'failed', reason: failure };
  if (isRuleBook)
    return { subject, kind: 'ok', reason: 'fixed rules answer: no model is installed' };
  const median = medianOf(firstTextMs);
  const reason = `first words after ${median.toFixed(0)} ms`;
  if (median <= FIRST_TEXT_MS_MAX) return { subject, kind: 'ok', reason };
  return { subject, kind: 'too slow', reason: `${reason}, more than ${FIRST_TEXT_MS_MAX}` };
}

/** Share of a call's time in which either side speaks. */
const SPEECH_SHARE = 0.4;

/** An utterance is recognised while it lasts and at its end. */
const HEARINGS = 2;

/** RTP, voice detection and call control. @see docs/benches.md, capacity */
const CORES_A_CALL = 0.004;

/** Load above which answers wait for each other. */
const LOAD_MAX = 0.7;

/**
 * Calls at once by processor time, without the language model: with the first engine that works of each kind, which is the one
 * that the server takes.
 */
export function callsByProcessorTime({ machine, voices, recognizers }: SelfTestReport): number {
  const factorOf = (results: readonly { failure: string | null; realTimeFactor: number }[]) =>
    results.find(({ failure, realTimeFactor: factor }) => failure === null && factor > 0)
      ?.realTimeFactor ?? 0;
  const hearing = SPEECH_SHARE * HEARINGS * factorOf(recognizers) * machine.threads;
  const speaking = SPEECH_SHARE * factorOf(voices);
  return Math.floor((LOAD_MAX * machine.cores) / (hearing + speaking + CORES_A_CALL));
}

export function errorPercent({ errors, words }: Pick<HeardResult, 'errors' | 'words'>): number {
  return (100 * errors) / Math.max(1, words);
}

/** NaN when there are no values. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
}

/**
 * Replaces paths and hosts in a report, so that an issue names no folder, user or server of its author.
 *
 * @param names what stands for each path.
 */
export function withoutPaths(
  report: SelfTestReport,
  names: Readonly<Record<string, string>>,
): SelfTestReport {
  // Of two paths, one in the other, the inner one first.
  const longestFirst = Object.entries(names).sort(([one], [other]) => other.length - one.length);
  const clean = (text: string) =>
    longestFirst
      .reduce((left, [path, name]) => left.replaceAll(path, name), text)
      .replace(/(https?:\/\/)(?!127\.0\.0\.1|localhost)[^\s"/]+/g, '$1…');
  return JSON.parse(
    JSON.stringify(report, (_key, value) => (typeof value === 'string' ? clean(value) : value)),
  );
}

/** Speed of one core, in multiply-adds a second. */
export interface MachineSpeed {
  /** Product of two matrices in 8 bits, as encoders compute it. */
  readonly matrixPerSecond: number;
  /** Product of a vector and a matrix that no cache holds, as decoders compute it for each token. */
  readonly vectorPerSecond: number;
}

/** Estimated speed on one core of a recogniser that is not installed. */
export interface SpeedEstimate {
  /** Name in the list of models. */
  readonly model: string;
  /** Profiles that bring it. */
  readonly profiles: readonly string[];
  /** From the end of a sentence of 3 s to its text, in milliseconds. */
  readonly answerMs: number;
}

/** Estimates of all models that are not installed; `failure` says why there are none. */
export interface SpeedEstimates {
  readonly list: readonly SpeedEstimate[];
  readonly failure: string | null;
}

/** Published shape of a Whisper. */
interface WhisperShape {
  readonly modelSize: number;
  readonly encoderLayers: number;
  readonly decoderLayers: number;
  readonly melCount: number;
}

/**
 * Shapes by the id of the list of models.
 *
 * @see `config.json` of https://huggingface.co/openai/whisper-tiny, whisper-base, whisper-small and whisper-large-v3-turbo
 */
const SHAPES: Readonly<Record<string, WhisperShape>> = {
  'whisper-tiny': { modelSize: 384, encoderLayers: 4, decoderLayers: 4, melCount: 80 },
  'whisper-base': { modelSize: 512, encoderLayers: 6, decoderLayers: 6, melCount: 80 },
  'whisper-small': { modelSize: 768, encoderLayers: 12, decoderLayers: 12, melCount: 80 },
  'whisper-large-v3-turbo': {
    ...{ modelSize: 1280, encoderLayers: 32, decoderLayers: 4, melCount: 128 },
  },
};

const VOCABULARY = 51_866;

/** An ordinary sentence: ten words, and the tokens before them in one step. */
const SENTENCE_SECONDS = 3;
const DECODER_STEPS = 13;

/** Rows of the encoder's input and output for one second of sound. */
const FRAMES_A_SECOND = 100;
const POSITIONS_A_SECOND = 50;

/** Attention projects four times, the layer behind it widens to four times the size and back. */
const LAYER_PRODUCTS = 12;

/** With the projections of the decoder's second attention whose keys and values are kept. */
const STEP_PRODUCTS = 14;

/** Total time over the time of the matrix products: norms, softmax, conversions. Measured 1.05 to 1.6. */
const OVERHEAD = 1.3;

/** An estimate may be off by this factor, either way. */
const ERROR = 1.5;

/** Whether the arithmetic of the model is known. @param modelId id of the list of models. */
export function isEstimable(modelId: string): boolean {
  return SHAPES[modelId] !== undefined;
}

/**
 * Milliseconds from the end of a sentence of 3 s to its text.
 *
 * @throws {RangeError} for a model that is not estimable.
 */
export function answerMsOf(
  modelId: string,
  { matrixPerSecond, vectorPerSecond }: MachineSpeed,
): number {
  const shape = SHAPES[modelId];
  if (shape === undefined) throw new RangeError(`Cannot estimate "${modelId}": unknown shape`);
  const encoderSeconds = encoderProducts(shape) / matrixPerSecond;
  const decoderSeconds = (DECODER_STEPS * stepProducts(shape)) / vectorPerSecond;
  return 1000 * OVERHEAD * (encoderSeconds + decoderSeconds);
}

/** Multiply-adds of one sentence: two convolutions, the layers, and the keys and values of the decoder's cross-attention. */
function encoderProducts(shape: WhisperShape): number {
  const { modelSize: size, encoderLayers, decoderLayers, melCount } = shape;
  const frames = SENTENCE_SECONDS * FRAMES_A_SECOND;
  const positions = SENTENCE_SECONDS * POSITIONS_A_SECOND;
  const convolutions = 3 * size * (frames * melCount + positions * size);
  const layer = positions * size * (LAYER_PRODUCTS * size + 2 * positions);
  return convolutions + encoderLayers * layer + decoderLayers * 2 * positions * size ** 2;
}

/** Multiply-adds of one token. */
function stepProducts({ modelSize: size, decoderLayers }: WhisperShape): number {
  const positions = SENTENCE_SECONDS * POSITIONS_A_SECOND;
  const layer = size * (STEP_PRODUCTS * size + 2 * positions);
  return decoderLayers * layer + VOCABULARY * size;
}

/** The estimate in words, as coarse as its error. @param answerMsMax above it, callers find the agent slow. */
export function estimateText({ answerMs }: SpeedEstimate, answerMsMax: number): string {
  const times = (1000 * SENTENCE_SECONDS) / answerMs;
  const pace =
    times < 1
      ? 'slower than speech, estimated'
      : `about ${times < 10 ? times.toFixed(0) : Number(times.toPrecision(1))} times faster than speech, estimated`;
  if (answerMs > answerMsMax * ERROR) return `likely too slow for this machine: ${pace}`;
  if (answerMs * ERROR < answerMsMax) return pace;
  return `${pace}; callers may have to wait more than ${answerMsMax} ms for it`;
}
