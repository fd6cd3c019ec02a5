/** ONNX Runtime sessions. */
import { ModelFileError } from './model-file-error.ts';
import { onnxProviders } from './onnx-providers.ts';
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
