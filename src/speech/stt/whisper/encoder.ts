/** Whisper's encoder on ONNX Runtime, freed of its 30 s where the export is fixed to them. */
import { readFile, stat } from 'node:fs/promises';
import { ModelFileError } from '../../models/model-file-error.ts';
import { type InferenceSession, Tensor } from '../../models/onnx-runtime.ts';
import { openSession } from '../../models/onnx-session.ts';
import { FULL_WINDOW_FRAMES, type MelFeatures } from '../features/log-mel.ts';
import { type FreedEncoder, freeEncoderWindow } from './encoder-window.ts';
import type { WhisperConfig } from './whisper-config.ts';

const MODEL = 'speech model';

/** What Node reads into memory at once; exports that are larger come in several files anyway. */
const EDITED_BYTES_MAX = 2 ** 31 - 1;

/** A window to try an encoder with, shorter than any that is asked for. */
const PROBE_FRAMES = 200;

/** What fails is thrown, and need not be on the error output as well. */
const RUN_OPTIONS = { logSeverityLevel: 4 } as const;

/** What the encoder heard: float32 [1, frames / 2, modelSize]. */
export type EncodedAudio = Tensor;

export interface Encoder {
  /** Null when it takes windows of any length; else why it takes 30 s only. */
  readonly fixedBecause: string | null;
  /** @throws {ModelFileError} when the model gives another shape than its configuration says. */
  encode(features: MelFeatures): Promise<EncodedAudio>;
  close(): Promise<void>;
}

/**
 * Opens an encoder. One that adds a whole table of positions is edited in memory; the file stays as it is.
 *
 * @throws {ModelFileError}
 */
export async function openEncoder(
  path: string,
  config: WhisperConfig,
  threads: number,
): Promise<Encoder> {
  const freed = await freedEncoder(path, config);
  if (freed.kind === 'edited') {
    const edited = await openSession({ model: MODEL, path, threads, content: freed.model });
    const encoder = encoderOf(edited, path, config);
    if (await takesShortWindows(encoder, config)) return encoder;
    await encoder.close();
  }
  const whole = encoderOf(await openSession({ model: MODEL, path, threads }), path, config);
  if (await takesShortWindows(whole, config)) return whole;
  await tryFullWindow(whole, path, config);
  const why = freed.kind === 'fixed' ? freed.reason : 'its shapes are fixed within';
  return { ...whole, fixedBecause: why };
}

/** The last that can be asked of it. */
async function tryFullWindow(encoder: Encoder, path: string, config: WhisperConfig) {
  try {
    await encoder.encode(silence(config, FULL_WINDOW_FRAMES));
  } catch (error) {
    throw ModelFileError.from(MODEL, path, error);
  }
}

async function freedEncoder(path: string, config: WhisperConfig): Promise<FreedEncoder> {
  try {
    if ((await stat(path)).size > EDITED_BYTES_MAX) {
      return { kind: 'fixed', reason: 'it is larger than 2 GB' };
    }
    return freeEncoderWindow(await readFile(path), config);
  } catch (error) {
    throw ModelFileError.from(MODEL, path, error);
  }
}

function encoderOf(session: InferenceSession, path: string, config: WhisperConfig): Encoder {
  return {
    fixedBecause: null,
    encode: async ({ values, frames }) => {
      const features = new Tensor('float32', values, [1, config.melCount, frames]);
      const { last_hidden_state: encoded } = await session.run(
        { input_features: features },
        RUN_OPTIONS,
      );
      checkEncoded(encoded, path, frames, config);
      return encoded;
    },
    close: () => session.release(),
  };
}

function checkEncoded(
  encoded: Tensor | undefined,
  path: string,
  frames: number,
  config: WhisperConfig,
): asserts encoded is Tensor {
  const expected = [1, frames / 2, config.modelSize].join(' x ');
  const actual = encoded?.dims.join(' x ') ?? 'nothing';
  if (actual !== expected) {
    throw new ModelFileError(MODEL, path, `it gave ${actual} where ${expected} was expected`);
  }
}

/**
 * An export may be fixed to 30 s in ways that nothing in the file tells: it is tried.
 *
 * @throws {ModelFileError} when what it gives is of a shape that no window explains.
 */
async function takesShortWindows(encoder: Encoder, config: WhisperConfig): Promise<boolean> {
  try {
    await encoder.encode(silence(config, PROBE_FRAMES));
    return true;
  } catch (error) {
    if (error instanceof ModelFileError) throw error;
    return false;
  }
}

function silence({ melCount }: WhisperConfig, frames: number): MelFeatures {
  return { values: new Float32Array(melCount * frames), frames };
}
