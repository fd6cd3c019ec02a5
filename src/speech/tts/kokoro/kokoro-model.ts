/** One Kokoro model with its voices, on ONNX Runtime: phonemes in the symbols that it was trained on in, 24 kHz out. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ModelFileError } from '../../../lib/onnx/model-file-error.ts';
import { type InferenceSession, openSession, Tensor } from '../../../lib/onnx/onnx-session.ts';
import { jsonOf } from '../../../lib/unknown-value.ts';
import { filesIn } from '../../models/model-files.ts';
import {
  endsOfDurations,
  type VoiceAudio,
  type VoiceModel,
  type VoiceRequest,
} from '../neural/voice-model.ts';

const MODEL = 'Kokoro model';

const RATE_HZ = 24_000;

/** Symbols in one run, but for the two at the ends. */
const PHONEMES_MAX = 510;

/** Numbers of a voice for one length of text. */
const STYLE_WIDTH = 256;

/** Model files as converted for transformers.js; the quantised graph is the quickest on a processor. */
const GRAPHS = ['model_quantized.onnx', 'model_q8f16.onnx', 'model.onnx', 'model_fp16.onnx'];

/** A symbol each, by its number. */
const vocabSchema = z.union([
  z
    .object({ model: z.object({ vocab: z.record(z.string(), z.int()) }) })
    .transform(({ model }) => model.vocab),
  z.object({ vocab: z.record(z.string(), z.int()) }).transform(({ vocab }) => vocab),
]);

/**
 * @param folder holds `tokenizer.json` or `config.json`, `onnx/*.onnx` and `voices/*.bin`.
 * @throws {ModelFileError}
 * @see the model card of onnx-community/Kokoro-82M-v1.0-ONNX: `input_ids` int64 [1, T], `style` float32 [1, 256],
 * `speed` float32 [1]; `waveform` float32
 */
export async function openVoiceModel(folder: string, threads: number): Promise<VoiceModel> {
  const vocab = await readVocab(folder);
  const graphs = filesIn(join(folder, 'onnx'), '.onnx');
  const graph = GRAPHS.find((name) => graphs.includes(name)) ?? graphs[0];
  const path = join(folder, 'onnx', graph ?? 'model.onnx');
  const session = await openSession({ model: MODEL, path, threads });
  for (const name of ['style', 'speed']) {
    if (!session.inputNames.includes(name)) {
      await session.release();
      throw new ModelFileError(MODEL, path, `it has no input "${name}"`);
    }
  }
  return new KokoroModel({ folder, session, vocab });
}

class KokoroModel implements VoiceModel {
  readonly rateHz = RATE_HZ;
  readonly phonemesMax = PHONEMES_MAX;
  readonly #folder: string;
  readonly #session: InferenceSession;
  readonly #vocab: ReadonlyMap<string, number>;
  readonly #voices = new Map<string, Float32Array>();

  constructor(parts: {
    readonly folder: string;
    readonly session: InferenceSession;
    readonly vocab: ReadonlyMap<string, number>;
  }) {
    this.#folder = parts.folder;
    this.#session = parts.session;
    this.#vocab = parts.vocab;
  }

  spell(phonemes: string, voice: string): string {
    return kokoroPhonemes(phonemes, voice);
  }

  async say({ phonemes, voice }: VoiceRequest): Promise<VoiceAudio> {
    const points = [...phonemes];
    const known = points.map((point) => this.#vocab.get(point));
    const symbols = known.filter((id) => id !== undefined).slice(0, PHONEMES_MAX);
    const ids = [0, ...symbols, 0];
    const style = await this.#style(voice, symbols.length);
    const [idsName = 'input_ids'] = this.#session.inputNames.filter((name) =>
      /id|token/.test(name),
    );
    const output = await this.#session.run({
      [idsName]: new Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]),
      style: new Tensor('float32', style, [1, STYLE_WIDTH]),
      speed: new Tensor('float32', Float32Array.of(1), [1]),
    });
    return audioOf(output, { known, symbols: ids.length });
  }

  async close(): Promise<void> {
    await this.#session.release();
  }

  /** A voice has a row for each length of text. */
  async #style(voice: string, length: number): Promise<Float32Array> {
    const rows = this.#voices.get(voice) ?? (await this.#readVoice(voice));
    this.#voices.set(voice, rows);
    const row = Math.min(length, rows.length / STYLE_WIDTH - 1);
    return rows.slice(row * STYLE_WIDTH, (row + 1) * STYLE_WIDTH);
  }

  async #readVoice(voice: string): Promise<Float32Array> {
    const path = join(this.#folder, 'voices', `${voice}.bin`);
    const bytes = await readFile(path).catch((error: unknown) => {
      throw ModelFileError.from('Kokoro voice', path, error);
    });
    if (bytes.length === 0 || bytes.length % (4 * STYLE_WIDTH) !== 0) {
      throw new ModelFileError(
        'Kokoro voice',
        path,
        `${bytes.length} bytes are no rows of 256 numbers`,
      );
    }
    return new Float32Array(new Uint8Array(bytes).buffer);
  }
}

function audioOf(
  output: InferenceSession.ReturnType,
  from: {
    readonly known: readonly (number | undefined)[];
    readonly symbols: number;
  },
): VoiceAudio {
  const tensors = Object.entries(output);
  const [, waveform] = tensors.find(([name]) => /wave|audio/.test(name)) ?? tensors[0] ?? [];
  if (!(waveform?.data instanceof Float32Array)) {
    throw new Error('the graph gave no sound: it has no output "waveform" of float32');
  }
  const samples = waveform.data;
  const [, durations] = tensors.find(([name]) => /dur/.test(name)) ?? [];
  if (durations === undefined || durations.size !== from.symbols) return { samples };
  // The first and the last stand for the silence around.
  const each = Array.from(durations.data as ArrayLike<number | bigint>, Number);
  const perPoint: number[] = [];
  let at = 1;
  for (const id of from.known) perPoint.push(id === undefined ? 0 : (each[at++] ?? 0));
  return { samples, ends: endsOfDurations(perPoint, each) };
}

async function readVocab(folder: string): Promise<ReadonlyMap<string, number>> {
  const [file] = ['tokenizer.json', 'config.json'].filter((name) =>
    filesIn(folder, name).includes(name),
  );
  const path = join(folder, file ?? 'tokenizer.json');
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw ModelFileError.from('Kokoro vocabulary', path, error);
  });
  const vocab = vocabSchema.safeParse(jsonOf(text));
  if (vocab.success) return new Map(Object.entries(vocab.data));
  throw new ModelFileError('Kokoro vocabulary', path, 'it has no "vocab" of symbols and numbers');
}

/** Sign between the parts of an affricate or a diphthong, as espeak-ng's `--tie=^` writes it. */
const TIE = /\^/g;

/**
 * Pairs that are one symbol to Kokoro. Only tied ones: two vowels in a row that are two syllables stay two.
 *
 * @see hexgrad/misaki, espeak.py: `EspeakG2P`, which reads es, fr, hi, it and pt-br
 */
const JOINED: Readonly<Record<string, string>> = {
  'a^ɪ': 'I',
  'a^ʊ': 'W',
  'd^z': 'ʣ',
  'd^ʒ': 'ʤ',
  'e^ɪ': 'A',
  'o^ʊ': 'O',
  's^s': 'S',
  't^s': 'ʦ',
  't^ʃ': 'ʧ',
  'ɔ^ɪ': 'Y',
  'ə^ʊ': 'Q',
};

/** @see kokoro-js, phonemize.js: the same in the same order */
const ENGLISH: readonly (readonly [RegExp, string])[] = [
  [/kəkˈoːɹoʊ/g, 'kˈoʊkəɹoʊ'],
  [/kəkˈɔːɹəʊ/g, 'kˈəʊkəɹəʊ'],
  [/ʲ/g, 'j'],
  [/r/g, 'ɹ'],
  [/x/g, 'k'],
  [/ɬ/g, 'l'],
  [/(?<=[a-zɹː])(?=hˈʌndɹɪd)/g, ' '],
  [/ z(?=[;:,.!?¡¿—…"«»“” ]|$)/g, 'z'],
];

const AMERICAN: readonly (readonly [RegExp, string])[] = [[/(?<=nˈaɪn)ti(?!ː)/g, 'di']];

/**
 * @param phonemes with ties.
 * @param voice whose first letter tells the language: `a` and `b` American and British English.
 */
export function kokoroPhonemes(phonemes: string, voice: string): string {
  if (/^[ab]/.test(voice)) {
    const changes = voice.startsWith('a') ? [...ENGLISH, ...AMERICAN] : ENGLISH;
    const untied = phonemes.replace(TIE, '');
    return changes.reduce((text, [pattern, by]) => text.replace(pattern, by), untied);
  }
  const joined = phonemes.replace(/.\^./gu, (pair) => JOINED[pair] ?? pair);
  return joined.replace(TIE, '').replaceAll('-', '');
}
