/** Voices in Piper's and Kokoro's files that say nothing sensible: noise as long as the text, by random weights. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  float32,
  int64,
  type OnnxGraph,
  onnxModel,
  randomWeights,
  seededChance,
} from './onnx-file.ts';

/** Symbols that the voices know: those of Piper's map, and IPA as espeak-ng writes English and German. */
export const SYMBOLS = [
  ..."_^$ !'(),-.:;?abcdefhijklmnopqrstuvwxyzæçðøħŋœǀɐɑɒɓɔɕɖɗɘəɚɛɜɞɟɡɢɣɤɥɦɧɨɪɬɭɮɯɰɱɲɳɴɵɶɸɹɺɻɽɾʀʁʂʃʄʈʉʊʋʌʍʎʏʐʑʒʔʕʘʙʛʜʝʟʡʢˈˌːˑ˞βθχᵻⱱ—…",
];

/** Samples that one symbol makes at length scale 1, before it is told twice. */
const HOP = 256;

export interface VoiceShape {
  /** Whether the graph tells how long each symbol takes, as newer exports do. */
  readonly hasDurations?: boolean;
}

/**
 * `input`, `input_lengths`, `scales` to `output`, as Piper's: each symbol becomes ceil(4 * length scale) times its own
 * piece of noise.
 */
export function tinyPiperGraph({ hasDurations = false }: VoiceShape = {}): OnnxGraph {
  return {
    inputs: [
      { name: 'input', type: 'int64', dims: ['batch', 'phonemes'] },
      { name: 'input_lengths', type: 'int64', dims: ['batch'] },
      { name: 'scales', type: 'float32', dims: [3] },
    ],
    outputs: [
      { name: 'output', type: 'float32', dims: ['batch', 1, 1, 'time'] },
      ...(hasDurations
        ? [{ name: 'durations', type: 'int64', dims: ['batch', 'phonemes'] } as const]
        : []),
    ],
    nodes: [
      { op: 'Gather', inputs: ['scales', 'one'], outputs: ['length_scale'] },
      { op: 'Mul', inputs: ['length_scale', 'four'], outputs: ['scaled'] },
      { op: 'Ceil', inputs: ['scaled'], outputs: ['ceiled'] },
      { op: 'Cast', inputs: ['ceiled'], outputs: ['times'], attributes: { to: 7 } },
      ...noiseNodes('input', 'output'),
      ...(hasDurations
        ? [{ op: 'Expand', inputs: ['times', 'shape'], outputs: ['durations'] }]
        : []),
    ],
    tensors: [
      int64('one', [1], [1]),
      float32('four', [1], [4]),
      ...noiseTensors(SYMBOLS.length, [1, 1, 1, -1]),
    ],
  };
}

/** `input_ids`, `style`, `speed` to `waveform`, as Kokoro's: each symbol becomes ceil(4 / speed) pieces of noise. */
export function tinyKokoroGraph({ hasDurations = false }: VoiceShape = {}): OnnxGraph {
  return {
    inputs: [
      { name: 'input_ids', type: 'int64', dims: [1, 'tokens'] },
      { name: 'style', type: 'float32', dims: [1, 256] },
      { name: 'speed', type: 'float32', dims: [1] },
    ],
    outputs: [
      { name: 'waveform', type: 'float32', dims: [1, 'samples'] },
      ...(hasDurations ? [{ name: 'durations', type: 'int64', dims: [1, 'tokens'] } as const] : []),
    ],
    nodes: [
      { op: 'Div', inputs: ['four', 'speed'], outputs: ['scaled'] },
      { op: 'Ceil', inputs: ['scaled'], outputs: ['ceiled'] },
      { op: 'Cast', inputs: ['ceiled'], outputs: ['times'], attributes: { to: 7 } },
      ...noiseNodes('input_ids', 'plain'),
      // The style does its part: the loudness.
      { op: 'ReduceMean', inputs: ['style'], outputs: ['level'], attributes: { keepdims: 1 } },
      { op: 'Mul', inputs: ['plain', 'level'], outputs: ['waveform'] },
      ...(hasDurations
        ? [{ op: 'Expand', inputs: ['times', 'shape'], outputs: ['durations'] }]
        : []),
    ],
    tensors: [float32('four', [1], [4]), ...noiseTensors(SYMBOLS.length, [1, -1])],
  };
}

function noiseNodes(ids: string, output: string) {
  return [
    { op: 'Shape', inputs: [ids], outputs: ['shape'] },
    { op: 'Gather', inputs: ['pieces', ids], outputs: ['rows'] },
    { op: 'Unsqueeze', inputs: ['rows', 'two'], outputs: ['single'] },
    {
      op: 'Concat',
      inputs: ['shape', 'times', 'hop'],
      outputs: ['whole'],
      attributes: { axis: 0 },
    },
    { op: 'Expand', inputs: ['single', 'whole'], outputs: ['repeated'] },
    { op: 'Reshape', inputs: ['repeated', 'flat'], outputs: [output] },
  ];
}

function noiseTensors(symbols: number, flat: readonly number[]) {
  return [
    randomWeights('pieces', [symbols, HOP], seededChance(7), 0.2),
    int64('two', [1], [2]),
    int64('hop', [1], [HOP]),
    int64('flat', [flat.length], flat),
  ];
}

const PIPER_CONFIG = {
  audio: { sample_rate: 22_050 },
  espeak: { voice: 'en-us' },
  inference: { noise_scale: 0.667, length_scale: 1, noise_w: 0.8 },
  num_speakers: 1,
};

/** Puts a Piper voice into a models folder. @returns the graph's path. */
export function writePiperVoice(
  modelsDir: string,
  name: string,
  options: { readonly graph?: OnnxGraph; readonly config?: object } = {},
): string {
  const folder = join(modelsDir, 'tts', 'piper');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.onnx`);
  writeFileSync(path, onnxModel(options.graph ?? tinyPiperGraph()));
  const phonemeIds = Object.fromEntries(SYMBOLS.map((symbol, id) => [symbol, [id]]));
  const config = { ...PIPER_CONFIG, phoneme_id_map: phonemeIds, ...options.config };
  writeFileSync(`${path}.json`, JSON.stringify(config));
  return path;
}

/** Puts Kokoro with these voices into a models folder. @returns its folder. */
export function writeKokoro(
  modelsDir: string,
  voices: readonly string[],
  options: { readonly graph?: OnnxGraph } = {},
): string {
  const folder = join(modelsDir, 'tts', 'kokoro');
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  mkdirSync(join(folder, 'voices'), { recursive: true });
  writeFileSync(join(folder, 'onnx', 'model.onnx'), onnxModel(options.graph ?? tinyKokoroGraph()));
  const vocab = Object.fromEntries(
    SYMBOLS.map((symbol, id) => [symbol === '_' ? '$' : symbol, id]),
  );
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify({ model: { vocab } }));
  for (const voice of voices) {
    const rows = new Float32Array(510 * 256).fill(0.5);
    writeFileSync(join(folder, 'voices', `${voice}.bin`), new Uint8Array(rows.buffer));
  }
  return folder;
}
