/** One Piper voice on ONNX Runtime: phonemes in, sound at the voice's own rate out. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ModelFileError } from '../../../lib/onnx/model-file-error.ts';
import { type InferenceSession, openSession, Tensor } from '../../../lib/onnx/onnx-session.ts';
import { jsonOf } from '../../../lib/unknown-value.ts';
import {
  endsOfDurations,
  type VoiceAudio,
  type VoiceModel,
  type VoiceRequest,
} from '../neural/voice-model.ts';

const MODEL = 'Piper voice';

/** About 30 s; Piper was trained on sentences. */
const PHONEMES_MAX = 400;

const configSchema = z.object({
  audio: z.object({ sample_rate: z.int().min(8000).max(96_000) }),
  phoneme_type: z.literal('espeak').default('espeak'),
  phoneme_id_map: z.record(z.string(), z.array(z.int()).min(1)),
  inference: z
    .object({
      noise_scale: z.number().default(0.667),
      length_scale: z.number().default(1),
      noise_w: z.number().default(0.8),
    })
    .prefault({}),
});

type PiperConfig = z.infer<typeof configSchema>;

/**
 * @param path of the graph; its configuration has the same path with `.json` appended.
 * @throws {ModelFileError}
 * @see piper, src/cpp/piper.cpp: `input` int64 [1, T], `input_lengths` int64 [1], `scales` float32 [3] (noise, length,
 * noise of lengths), `sid` int64 [1] where there are several speakers; `output` float32 [1, 1, 1, N]
 */
export async function openVoiceModel(path: string, threads: number): Promise<VoiceModel> {
  const config = await readConfig(`${path}.json`);
  const session = await openSession({ model: MODEL, path, threads });
  for (const name of ['input', 'input_lengths', 'scales']) {
    if (!session.inputNames.includes(name)) {
      await session.release();
      throw new ModelFileError(MODEL, path, `it has no input "${name}"`);
    }
  }
  return new PiperModel(session, config);
}

class PiperModel implements VoiceModel {
  readonly rateHz: number;
  readonly phonemesMax = PHONEMES_MAX;
  readonly #session: InferenceSession;
  readonly #config: PiperConfig;

  constructor(session: InferenceSession, config: PiperConfig) {
    this.#session = session;
    this.#config = config;
    this.rateHz = config.audio.sample_rate;
  }

  /** Piper was trained on espeak-ng's IPA without ties; `^` would begin a sentence. */
  spell(phonemes: string): string {
    return phonemes.replaceAll('^', '');
  }

  async say({ phonemes }: VoiceRequest): Promise<VoiceAudio> {
    const { ids, perPoint } = this.#idsOf(phonemes);
    const {
      noise_scale: noise,
      length_scale: length,
      noise_w: noiseOfLengths,
    } = this.#config.inference;
    const output = await this.#session.run({
      input: new Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]),
      input_lengths: new Tensor('int64', BigInt64Array.of(BigInt(ids.length)), [1]),
      scales: new Tensor('float32', Float32Array.of(noise, length, noiseOfLengths), [3]),
      ...(this.#session.inputNames.includes('sid') && {
        sid: new Tensor('int64', BigInt64Array.of(0n), [1]),
      }),
    });
    const samples = output[this.#session.outputNames[0] ?? 'output']?.data;
    if (!(samples instanceof Float32Array)) {
      throw new Error('the graph gave no sound: its first output is no float32');
    }
    const durations = Object.values(output)
      .slice(1)
      .find(({ size }) => size === ids.length);
    if (durations === undefined) return { samples };
    const each = Array.from(durations.data as ArrayLike<number | bigint>, Number);
    return { samples, ends: endsOfDurations(pointDurations(perPoint, each), each) };
  }

  async close(): Promise<void> {
    await this.#session.release();
  }

  /**
   *     ^ _ p _ p _ … p _ $
   *
   * Piper knows characters decomposed, so a point of the phonemes may have several ids, or none.
   */
  #idsOf(phonemes: string): {
    readonly ids: readonly number[];
    readonly perPoint: readonly number[];
  } {
    const map = this.#config.phoneme_id_map;
    const idsOf = (sign: string) => (Object.hasOwn(map, sign) ? (map[sign] ?? []) : []);
    const pad = idsOf('_');
    const ids = [...idsOf('^'), ...pad];
    const perPoint = [...phonemes].map((point) => {
      const before = ids.length;
      for (const part of point.normalize('NFD')) {
        const own = idsOf(part);
        if (own.length > 0) ids.push(...own, ...pad);
      }
      return ids.length - before;
    });
    ids.push(...idsOf('$'));
    return { ids, perPoint };
  }
}

/** Adds up the durations of each code point's ids; durations at the start belong to the silence before. */
function pointDurations(perPoint: readonly number[], each: readonly number[]): readonly number[] {
  let at = each.length - 1 - perPoint.reduce((sum, count) => sum + count, 0);
  return perPoint.map((count) => {
    const sum = each.slice(at, at + count).reduce((total, duration) => total + duration, 0);
    at += count;
    return sum;
  });
}

async function readConfig(path: string): Promise<PiperConfig> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw ModelFileError.from('Piper configuration', path, error);
  });
  const config = configSchema.safeParse(jsonOf(text));
  if (config.success) return config.data;
  const [issue] = config.error.issues;
  const reason = `${issue?.path.join('.') || 'the whole'}: ${issue?.message}`;
  throw new ModelFileError('Piper configuration', path, reason);
}
