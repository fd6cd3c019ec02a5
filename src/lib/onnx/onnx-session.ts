/** ONNX Runtime: its tensors, its sessions, and its native library, which some systems do not have. */
import { createRequire } from 'node:module';
import type * as Runtime from 'onnxruntime-node';
import type { InferenceSession } from 'onnxruntime-node';
import { firstLineOf } from '../unknown-value.ts';
import { ModelFileError } from './model-file-error.ts';
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
