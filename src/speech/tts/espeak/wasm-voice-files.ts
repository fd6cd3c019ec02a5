/** Which of its voice files espeak-ng's WASM build finds: it opens every one that it finds before it speaks. */

/** Emscripten's file system, as far as it is used. */
export interface MemoryFiles {
  writeFile(path: string, text: string): void;
  readdir(path: string): string[];
  stat(path: string): { mode: number };
  isDir(mode: number): boolean;
  mkdir(path: string): void;
  rename(from: string, to: string): void;
  close(stream: object): void;
  readonly streams: readonly (object | null)[];
}

const DATA_FOLDER = '/usr/local/share/espeak-ng-data';
const SHELF = '/shelf';

interface VoiceFile {
  readonly path: string;
  readonly kept: string;
}

/** Keeps every file on a shelf that the program does not look at, and puts those of one voice in their place. */
export class WasmVoiceFiles {
  readonly #files: MemoryFiles;
  /** In the order of the folders: where a name fits several, the program takes the first. */
  readonly #all: readonly VoiceFile[];
  #shown: readonly VoiceFile[];
  #voice: string | undefined;

  constructor(files: MemoryFiles) {
    this.#files = files;
    files.mkdir(SHELF);
    const paths = ['lang', 'voices'].flatMap((name) => list(files, `${DATA_FOLDER}/${name}`));
    this.#all = paths.map((path, index) => ({ path, kept: `${SHELF}/${index}` }));
    this.#shown = this.#all;
  }

  /** @param voice file and variant, such as `gmw/en-US+f3`, or a name such as `en-us`, which is found only by opening all. */
  show(voice: string): void {
    if (voice === this.#voice) return;
    const [file = '', variant = ''] = voice.split('+');
    const isFile = file.includes('/');
    for (const { path, kept } of this.#shown) this.#files.rename(path, kept);
    this.#shown = this.#all.filter(({ path }) => {
      if (path.startsWith(`${DATA_FOLDER}/lang/`)) return !isFile || path.endsWith(`/lang/${file}`);
      return variant !== '' && path.endsWith(`/!v/${variant}`);
    });
    for (const { path, kept } of this.#shown) this.#files.rename(kept, path);
    this.#voice = voice;
  }
}

function list(files: MemoryFiles, folder: string): string[] {
  const names = files.readdir(folder).filter((name) => name !== '.' && name !== '..');
  return names.flatMap((name) => {
    const path = `${folder}/${name}`;
    return files.isDir(files.stat(path).mode) ? list(files, path) : [path];
  });
}
