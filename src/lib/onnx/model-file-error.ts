/** Errors of model files, in words for the operator; pure */
import { firstLineOf } from '../unknown-value.ts';

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
