/** Finds exports in Hugging Face's layout below the models' folder, by what their `config.json` says they are. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface ModelFolder {
  readonly path: string;
  /** `model_type` of its configuration; null where that cannot be read. */
  readonly type: string | null;
}

/** @param patterns of folders below `modelsDir`, such as `stt/*`. */
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
    // Whoever opens the model says what is wrong with the file.
    return null;
  }
}
