/** Writes the generated parts of the client libraries. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { readDescription } from '../../test/support/api/api-description.ts';
import type { ClientModel } from './client-model.ts';
import { emitPhp } from './emit-php.ts';
import { emitPython } from './emit-python.ts';
import { emitRuby } from './emit-ruby.ts';
import { emitTypescript } from './emit-typescript.ts';
import { readModel } from './read-model.ts';

const CLIENTS = join(import.meta.dirname, '..');

/** Gives the text of each file, by its path below `clients/<language>/`; pure. */
export type Emitter = (model: ClientModel) => Readonly<Record<string, string>>;

/** Languages by the names of their folders. */
export const LANGUAGES = {
  typescript: emitTypescript,
  python: emitPython,
  php: emitPhp,
  ruby: emitRuby,
} as const satisfies Record<string, Emitter>;

export type Language = keyof typeof LANGUAGES;

/** The model of the interface as it is now. */
export async function currentModel(): Promise<ClientModel> {
  return readModel(await readDescription());
}

/**
 * Writes the files of the languages that were asked for, or of all when none was.
 *
 * @returns Paths of the files, from the repository's folder.
 */
export async function generate(asked: readonly Language[] = []): Promise<readonly string[]> {
  const model = await currentModel();
  const all = Object.keys(LANGUAGES) as Language[];
  return all
    .filter((language) => asked.length === 0 || asked.includes(language))
    .flatMap((language) => {
      const files = Object.entries(LANGUAGES[language](model));
      return files.map(([path, text]) => written(join(CLIENTS, language, path), text));
    });
}

/** Leaves a file that has the text already, and replaces another at once: other programs may be reading it. */
function written(path: string, text: string): string {
  const shown = relative(join(CLIENTS, '..'), path);
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return shown;
  mkdirSync(dirname(path), { recursive: true });
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, text);
  renameSync(fresh, path);
  return shown;
}
