/** How fast a recogniser that is not installed would be here, from its arithmetic and the speed of two products; pure */

/** What one core does, in multiply-adds a second. */
export interface MachineSpeed {
  /** Of two matrices in 8 bits: what encoders do. */
  readonly matrixPerSecond: number;
  /** Of a vector and a matrix that no cache holds: what decoders do for each token. */
  readonly vectorPerSecond: number;
}

/** A recogniser that is not installed, as it would be on one core. */
export interface SpeedEstimate {
  /** As the list of models names it. */
  readonly model: string;
  /** Profiles that bring it. */
  readonly profiles: readonly string[];
  /** From the end of a sentence of 3 s to its text, in milliseconds. */
  readonly answerMs: number;
}

/** Of all that are not installed; `failure` says why there are none. */
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
 * By the id of the list of models.
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

/** Time of the whole over that of its products alone: norms, softmax, conversions. Measured 1.05 to 1.6. */
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

/** Multiply-adds of one sentence: two convolutions, the layers, and what the decoder keeps of their output. */
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
