/** Exports in Hugging Face's layout: folders by the type in their `config.json`, and the best file of a graph. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A folder with a `config.json`. */
export interface ModelFolder {
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

/** Parses JSON; undefined where it is invalid, which no schema accepts. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
    // No such folder, or not to be read: then there is nothing in it for us.
    return [];
  }
}
