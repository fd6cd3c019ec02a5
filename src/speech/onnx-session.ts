/** Opens a graph on ONNX Runtime, on the processor and with the threads it may use. */
import { InferenceSession } from 'onnxruntime-node';
import { ModelFileError } from './model-file-error.ts';

export interface SessionOptions {
  /** What the file is for the operator, such as `speech model`. */
  readonly model: string;
  readonly path: string;
  /** Threads of computing, the caller's own included. */
  readonly threads: number;
  /** The file's content, where it was edited; the path then only names it. */
  readonly content?: Uint8Array<ArrayBuffer>;
}

/** @throws {ModelFileError} */
export async function openSession(options: SessionOptions): Promise<InferenceSession> {
  const { model, path, threads, content } = options;
  const settings = {
    executionProviders: ['cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
  };
  try {
    return content === undefined
      ? await InferenceSession.create(path, settings)
      : await InferenceSession.create(content, settings);
  } catch (error) {
    throw ModelFileError.from(model, path, error);
  }
}
