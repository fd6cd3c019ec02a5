/** ONNX Runtime: its tensors, its sessions, and its native library, which some systems do not have. */
import { createRequire } from 'node:module';
import type * as Runtime from 'onnxruntime-node';
import type { InferenceSession } from 'onnxruntime-node';
import { firstLineOf } from '../unknown-value.ts';
import { onnxProviders } from './onnx-providers.ts';

/** A model file, and the threads that may run it. */
interface SessionOptions {
  /** The kind of model in messages, such as `speech model`. */
  readonly model: string;
  readonly path: string;
  /** Threads of computing, the caller's own included. */
  readonly threads: number;
}

/** Opens a graph. @throws {ModelFileError} when the file cannot be used. @throws {Error} where ONNX Runtime does not load. */
export async function openSession(options: SessionOptions): Promise<InferenceSession> {
  const { model, path, threads } = options;
  const settings = { intraOpNumThreads: threads, interOpNumThreads: 1 };
  const { InferenceSession } = await loadOnnxRuntime();
  try {
    return await onnxProviders.open((provider) =>
      InferenceSession.create(path, { ...settings, executionProviders: [provider] }),
    );
  } catch (error) {
    throw ModelFileError.from(model, path, error);
  }
}

export type { InferenceSession };

const common = createRequire(import.meta.url)('onnxruntime-common') as typeof Runtime;

/** The tensor class of the native library's CommonJS build. */
export const Tensor = common.Tensor;

/** A tensor of ONNX Runtime. */
export type Tensor = Runtime.Tensor;

/**
 * Loads the native library.
 *
 * @throws {Error} where it is not installed or has no build for this system, such as musl or macOS on Intel.
 */
export async function loadOnnxRuntime(): Promise<typeof Runtime> {
  try {
    return await import('onnxruntime-node');
  } catch (error) {
    const message = `Cannot run speech models: ONNX Runtime does not load on ${process.platform} ${process.arch} (${firstLineOf(error)}); it needs Linux with glibc, macOS on Apple silicon, or Windows`;
    throw new Error(message, { cause: error });
  }
}

/** A model file that cannot be used: the file, the cause and the remedy. Thrown by engines when they load a model. */
export class ModelFileError extends Error {
  override readonly name = 'ModelFileError';

  constructor(model: string, path: string, reason: string, options?: ErrorOptions) {
    super(
      `Cannot load the ${model} "${path}": ${reason}; put a whole copy there, or remove it`,
      options,
    );
  }

  /** Wraps an error of the file system, a JSON parser or ONNX Runtime. */
  static from(model: string, path: string, error: unknown): ModelFileError {
    if (error instanceof ModelFileError) return error;
    return new ModelFileError(model, path, reasonOf(error), { cause: error });
  }
}

function reasonOf(error: unknown): string {
  const line = firstLineOf(error);
  if (line.includes('ENOENT') || line.includes("doesn't exist")) return 'there is no such file';
  if (/EISDIR|path is a directory/.test(line)) return 'it is a folder, not a file';
  // The last is said of an empty file.
  if (/protobuf|ERROR_CODE: 7|does not have a graph/i.test(line)) return 'the file is damaged';
  if (/is missing in 'feeds'/.test(line)) return 'it has other inputs than such a model';
  return line.slice(0, 200);
}
