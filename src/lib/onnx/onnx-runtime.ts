/** ONNX Runtime: its tensors, which are plain JavaScript, and its native library, which some systems do not have. */
import { createRequire } from 'node:module';
import type * as Runtime from 'onnxruntime-node';

export type { InferenceSession } from 'onnxruntime-node';

const common = createRequire(import.meta.url)('onnxruntime-common') as typeof Runtime;

/** The tensor class of the native library's CommonJS build. */
export const Tensor = common.Tensor;
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
    const [why] = String(error instanceof Error ? error.message : error).split('\n');
    const message = `Cannot run speech models: ONNX Runtime does not load on ${process.platform} ${process.arch} (${why}); it needs Linux with glibc, macOS on Apple silicon, or Windows`;
    throw new Error(message, { cause: error });
  }
}
