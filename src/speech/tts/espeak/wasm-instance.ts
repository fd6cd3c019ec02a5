/** espeak-ng's WASM build, which is the command-line program with its files in memory, run as often as wanted. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { espeakArguments, type Sentence } from './espeak-voice.ts';

const TEXT_FILE = 'sentence.txt';

/** Written at once; the first pieces come as small as the program's own. */
const PIECE_BYTES = 4096;

/** Input, output and complaints, which stay open. */
const STANDARD_STREAMS = 3;

interface Program {
  readonly FS: MemoryFiles;
  _main(argumentCount: number, argumentsAt: number): number;
  _fflush(stream: number): number;
}

interface Exports {
  readonly memory: LinearMemory;
  stackAlloc(bytes: number): number;
  stackSave(): number;
  stackRestore(at: number): void;
}

/** The npm package: its factory, and its WASM compiled once for all instances. */
export interface EspeakModule {
  readonly create: (settings: object) => Promise<Program>;
  readonly compiled: object;
}

/** TypeScript has these names only in its library for browsers. */
const { WebAssembly: webAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    compile(bytes: Uint8Array): Promise<object>;
    readonly Instance: new (module: object, imports: object) => { readonly exports: object };
  };
};

/** The npm package is one module that makes instances, and one file of WASM, 18 MB, compiled in about 30 ms. */
export async function loadModule(moduleName: string): Promise<EspeakModule> {
  const script = createRequire(import.meta.url).resolve(moduleName);
  const { default: create }: { default: EspeakModule['create'] } = await import(
    pathToFileURL(script).href
  );
  const wasm = await readFile(join(dirname(script), 'espeak-ng.wasm'));
  return { create, compiled: await webAssembly.compile(wasm) };
}

export class EspeakInstance {
  readonly #program: Program;
  readonly #exports: Exports;
  readonly #output: Output;
  readonly #voices: WasmVoiceFiles;
  readonly #before: MemoryBefore;

  private constructor(program: Program, exports: Exports, output: Output) {
    this.#program = program;
    this.#exports = exports;
    this.#output = output;
    this.#voices = new WasmVoiceFiles(program.FS);
    this.#before = new MemoryBefore(exports.memory);
  }

  /** Loads everything that does not depend on the text: 80 ms and more. */
  static async make({ create, compiled }: EspeakModule): Promise<EspeakInstance> {
    const output = new Output();
    let exports: Exports | undefined;
    const program = await create({
      noInitialRun: true,
      stdout: (byte: number) => output.write(byte),
      printErr: (line: string) => output.complain(line),
      instantiateWasm: (imports: object, use: (instance: object, module: object) => void) => {
        const instance = new webAssembly.Instance(compiled, imports);
        exports = instance.exports as unknown as Exports;
        use(instance, compiled);
        return instance.exports;
      },
    });
    if (exports === undefined) {
      throw new Error('Cannot load espeak-ng: its WASM build made no instance');
    }
    return new EspeakInstance(program, exports, output);
  }

  /** Whether it can run once more; false after a text for which the memory had to grow. */
  get isUsable(): boolean {
    return !this.#before.isOutgrown;
  }

  /**
   * Speaks, and returns at the end of the speech: 10 to 20 ms a sentence.
   *
   * @throws {Error} with espeak-ng's error output; the instance is not to be used again.
   */
  speak(sentence: Sentence, wave: (bytes: Uint8Array) => void): void {
    const { text, voice } = sentence;
    this.write(espeakArguments(voice), { text, voice: voice.name }, wave);
  }

  /**
   * Runs the program once, and passes on its standard output.
   *
   * @param voice the one in `words`.
   * @throws {Error} with espeak-ng's error output; the instance is not to be used again.
   */
  write(
    words: readonly string[],
    { text, voice }: { readonly text: string; readonly voice: string },
    output: (bytes: Uint8Array) => void,
  ): void {
    const { FS: files } = this.#program;
    this.#before.putBack();
    this.#voices.show(voice);
    files.writeFile(TEXT_FILE, text);
    this.#output.begin(output);
    const exitCode = this.#main(['espeak-ng', ...words, '-f', TEXT_FILE]);
    this.#program._fflush(0);
    this.#output.flush();
    for (const stream of files.streams.slice(STANDARD_STREAMS)) {
      if (stream) files.close(stream);
    }
    if (exitCode !== 0) {
      throw new Error(this.#output.complaint || `espeak-ng ended with ${exitCode}`);
    }
  }

  /** Calls `main(argc, argv)`, its words on the program's own stack. */
  #main(words: readonly string[]): number {
    const stack = this.#exports.stackSave();
    const at = words.map((word) => {
      const bytes = Buffer.from(`${word}\0`);
      const address = this.#exports.stackAlloc(bytes.length);
      new Uint8Array(this.#exports.memory.buffer).set(bytes, address);
      return address;
    });
    const argumentsAt = this.#exports.stackAlloc(4 * (at.length + 1));
    new Uint32Array(this.#exports.memory.buffer).set([...at, 0], argumentsAt / 4);
    const exitCode = this.#program._main(words.length, argumentsAt);
    this.#exports.stackRestore(stack);
    return exitCode;
  }
}

/** Collects the program's output, byte by byte, into pieces. */
class Output {
  readonly #piece = new Uint8Array(PIECE_BYTES);
  #length = 0;
  #wave: (bytes: Uint8Array) => void = () => undefined;
  complaint = '';

  /** Forgets earlier output. */
  begin(wave: (bytes: Uint8Array) => void): void {
    this.#wave = wave;
    this.#length = 0;
    this.complaint = '';
  }

  write(byte: number): void {
    this.#piece[this.#length++] = byte;
    if (this.#length === PIECE_BYTES) {
      this.flush();
    }
  }

  flush(): void {
    this.#wave(this.#piece.subarray(0, this.#length));
    this.#length = 0;
  }

  complain(line: string): void {
    this.complaint = `${this.complaint} ${line}`.trim().slice(0, 200);
  }
}

/** Grows by being another buffer. */
interface LinearMemory {
  readonly buffer: ArrayBuffer;
}

/**
 * A command-line program leaves its variables and its heap as they are when it ends, and cannot run twice on them. With
 * its memory put back it does not know that it ever ran: 2 ms for the 18 MB that espeak-ng fills, instead of 80 ms for a
 * new instance.
 */
export class MemoryBefore {
  readonly #memory: LinearMemory;
  readonly #buffer: ArrayBuffer;
  /** Up to the last byte that is not zero. */
  readonly #bytes: Uint8Array;

  constructor(memory: LinearMemory) {
    this.#memory = memory;
    this.#buffer = memory.buffer;
    const all = new Uint8Array(memory.buffer);
    this.#bytes = all.slice(0, all.findLastIndex((byte) => byte !== 0) + 1);
  }

  /** Whether the memory has grown since: then other code's views of it are empty, and it cannot be put back. */
  get isOutgrown(): boolean {
    return this.#memory.buffer !== this.#buffer;
  }

  putBack(): void {
    const memory = new Uint8Array(this.#buffer);
    memory.set(this.#bytes);
    memory.fill(0, this.#bytes.length);
  }
}

/** Emscripten's file system, as far as it is used. */
interface MemoryFiles {
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

/** Keeps all voice files in a folder that the program does not read, and moves the files of one voice to their place. */
class WasmVoiceFiles {
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
