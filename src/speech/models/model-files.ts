/** Model files of speech engines: the module that opens them, exports in Hugging Face's layout, and graphs that `npm run models` prepares. */

import { createHash } from 'node:crypto';
import { createReadStream, existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** A family of models that does one job. The composition root names the ones there are. */
export interface SpeechEngine {
  /** Name as in the settings `VAD` and `STT`. */
  readonly name: string;

  /** File URL of the module that opens a model; it is imported where the model runs, in a thread or child. */
  readonly moduleUrl: string;

  /** The command that fetches a model, where `npm run models` does not. */
  readonly fetchCommand?: string;

  /** Tried only when an operator asks for it by name. */
  readonly isOnRequest?: boolean;

  /**
   * Looks for models.
   *
   * @param modelsDir laid out as `<kind>/<name>/`; it need not exist.
   * @returns paths for the module to open, best first.
   */
  find(modelsDir: string): readonly string[];

  /** Models that come with Offhook, in an npm package; used where none is installed. */
  bundled?(): readonly string[];
}

/** Result of trying models one after the other. */
export interface LoadOutcome {
  /** The loaded model; null when none could be loaded. */
  readonly model: string | null;
  /** Messages of models that could not be loaded. */
  readonly failures: readonly string[];
  /** A limitation of the loaded model, and the remedy. */
  readonly drawback?: string;
}

/** A folder with a `config.json`. */
interface ModelFolder {
  readonly path: string;
  /** `model_type` of its configuration; null where that cannot be read. */
  readonly type: string | null;
}

/** Finds folders with a `config.json`. @param patterns of folders below `modelsDir`, such as `stt/*`. */
export function modelFolders(
  modelsDir: string,
  patterns: readonly string[],
): readonly ModelFolder[] {
  const files = patterns.map((pattern) => `${pattern}/config.json`);
  return globSync(files, { cwd: modelsDir })
    .sort()
    .map((file) => ({
      path: join(modelsDir, dirname(file)),
      type: typeIn(join(modelsDir, file)),
    }));
}

function typeIn(path: string): string | null {
  try {
    const { model_type: type } = JSON.parse(readFileSync(path, 'utf8')) as { model_type?: unknown };
    return typeof type === 'string' ? type : null;
  } catch {
    // The engine that opens the model names the fault.
    return null;
  }
}

/** Endings of file names, best first: 8-bit weights take half the time for the same words. */
const VARIANTS = ['_quantized', ''] as const;

/** Path of the best variant of a graph's file; of the plain one where none exists. */
export function graphPath(modelDir: string, name: string): string {
  const paths = VARIANTS.map((variant) => join(modelDir, 'onnx', `${name}${variant}.onnx`));
  return paths.find((path) => existsSync(path)) ?? join(modelDir, 'onnx', `${name}.onnx`);
}

/** Sub-folders of `tts` in the models folder, by name; none where it does not exist. */
export function voiceFolders(modelsDir: string): readonly string[] {
  const folder = join(modelsDir, 'tts');
  return entriesOf(folder)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .sort();
}

/** Names of a folder's files that end in `ending`, sorted; none where it does not exist. */
export function filesIn(folder: string, ending: string): readonly string[] {
  return entriesOf(folder)
    .filter((entry) => !entry.isDirectory() && entry.name.endsWith(ending))
    .map(({ name }) => name)
    .sort();
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // The folder is missing or unreadable: it offers no files.
    return [];
  }
}

/** Raised when the preparation changes; files of another version are ignored until they are prepared again. */
const VERSION = 1;

/** The version mark stands in the first field of the file, so no more is read to find it. */
const MARK_BYTES_MAX = 128;

const ENDING = '.prepared.onnx';

/** `encoder_model.prepared.onnx` for `encoder_model.onnx`. */
export function preparedPathOf(exportPath: string): string {
  return exportPath.replace(/(\.onnx)?$/, ENDING);
}

/** Whether a path is that of a prepared file. */
export function isPrepared(path: string): boolean {
  return path.endsWith(ENDING);
}

/**
 * The producer name of a prepared file: pins the version of the preparation and the SHA-256 of the export.
 *
 * @param sha256 of the export, in hexadecimal.
 */
export function preparedMark(sha256: string): string {
  return `offhook-prepared/${VERSION} sha256:${sha256}`;
}

/**
 * Finds the prepared file of an export.
 *
 * @returns null where there is none, or where it was made by another version or from another export.
 * @throws {Error} of the file system when the export cannot be read.
 */
export async function findPrepared(exportPath: string): Promise<string | null> {
  const path = preparedPathOf(exportPath);
  const start = await startOf(path);
  if (start === null) return null;
  const hash = createHash('sha256');
  await pipeline(createReadStream(exportPath, { highWaterMark: 2 ** 20 }), hash);
  return start.includes(preparedMark(hash.digest('hex'))) ? path : null;
}

/** The first bytes of a file; null where it cannot be read. */
async function startOf(path: string): Promise<Buffer | null> {
  try {
    await using file = await open(path);
    const { buffer } = await file.read(Buffer.alloc(MARK_BYTES_MAX), 0, MARK_BYTES_MAX, 0);
    return buffer;
  } catch {
    // The export is used instead, and the engine says that it is not prepared.
    return null;
  }
}
