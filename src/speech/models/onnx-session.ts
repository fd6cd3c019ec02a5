/** ONNX Runtime sessions on the CPU. */
import { ModelFileError } from './model-file-error.ts';
import { type InferenceSession, loadOnnxRuntime } from './onnx-runtime.ts';

/** A model file, and the threads that may run it. */
export interface SessionOptions {
  /** The kind of model in messages, such as `speech model`. */
  readonly model: string;
  readonly path: string;
  /** Threads of computing, the caller's own included. */
  readonly threads: number;
}

/** Opens a graph. @throws {ModelFileError} when the file cannot be used. @throws {Error} where ONNX Runtime does not load. */
export async function openSession(options: SessionOptions): Promise<InferenceSession> {
  const { model, path, threads } = options;
  const settings = {
    executionProviders: ['cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
  };
  const { InferenceSession } = await loadOnnxRuntime();
  try {
    return await InferenceSession.create(path, settings);
  } catch (error) {
    throw ModelFileError.from(model, path, error);
  }
}
