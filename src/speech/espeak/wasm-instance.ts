/** One run of espeak-ng's WASM build, which is the command-line program with its files in memory. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { espeakArguments } from './espeak-voice.ts';
import type { Sentence } from './speaking-messages.ts';

const DATA_FOLDER = '/usr/local/share/espeak-ng-data';
const TEXT_FILE = 'sentence.txt';

/** Written at once; the first pieces come as small as the program's own. */
const PIECE_BYTES = 4096;

/** Emscripten's file system, as far as it is used. */
interface MemoryFiles {
  writeFile(path: string, text: string): void;
  readdir(path: string): string[];
  stat(path: string): { mode: number };
  isDir(mode: number): boolean;
  unlink(path: string): void;
}

interface Program {
  readonly FS: MemoryFiles;
  _main(argumentCount: number, argumentsAt: number): number;
  _fflush(stream: number): number;
}

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  stackAlloc(bytes: number): number;
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

/** The npm package is one module that makes instances, and one file of WASM beside it, 18 MB, compiled in about 30 ms. */
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

  private constructor(program: Program, exports: Exports, output: Output) {
    this.#program = program;
    this.#exports = exports;
    this.#output = output;
  }

  /** Loads everything that does not depend on the text. */
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
    removeFiles(program.FS, `${DATA_FOLDER}/voices/mb`, () => false);
    return new EspeakInstance(program, exports, output);
  }

  /**
   * Speaks, and returns when all is said: 10 to 20 ms a sentence. May be called once.
   *
   * @throws {Error} with what espeak-ng complained of.
   */
  speak(sentence: Sentence, wave: (bytes: Uint8Array) => void): void {
    const { text, voice } = sentence;
    this.write(espeakArguments(voice), { text, voice: voice.name }, wave);
  }

  /**
   * Runs the program once, and gives what it writes to standard output. Once for an instance, instead of `speak`.
   *
   * @param voice file and variant, as in the words.
   * @throws {Error} with what espeak-ng complained of.
   */
  write(
    words: readonly string[],
    { text, voice }: { readonly text: string; readonly voice: string },
    output: (bytes: Uint8Array) => void,
  ): void {
    const [file = '', variant = ''] = voice.split('+');
    // espeak-ng opens every voice that it finds before it speaks; here it finds only this one.
    removeFiles(this.#program.FS, `${DATA_FOLDER}/voices`, (path) => path.endsWith(`/${variant}`));
    // A name such as `en-us` is found only by opening them.
    const isFile = file.includes('/');
    removeFiles(this.#program.FS, `${DATA_FOLDER}/lang`, (path) =>
      isFile ? path.endsWith(`/lang/${file}`) : true,
    );
    this.#program.FS.writeFile(TEXT_FILE, text);
    this.#output.listen(output);
    const exitCode = this.#main(['espeak-ng', ...words, '-f', TEXT_FILE]);
    this.#program._fflush(0);
    this.#output.flush();
    if (exitCode !== 0) {
      throw new Error(this.#output.complaint || `espeak-ng ended with ${exitCode}`);
    }
  }

  /** Calls `main(argc, argv)`, its words on the program's own stack. */
  #main(words: readonly string[]): number {
    const at = words.map((word) => {
      const bytes = Buffer.from(`${word}\0`);
      const address = this.#exports.stackAlloc(bytes.length);
      new Uint8Array(this.#exports.memory.buffer).set(bytes, address);
      return address;
    });
    const argumentsAt = this.#exports.stackAlloc(4 * (at.length + 1));
    new Uint32Array(this.#exports.memory.buffer).set([...at, 0], argumentsAt / 4);
    return this.#program._main(words.length, argumentsAt);
  }
}

/** Gathers what the program writes, byte by byte, into pieces. */
class Output {
  readonly #piece = new Uint8Array(PIECE_BYTES);
  #length = 0;
  #wave: (bytes: Uint8Array) => void = () => undefined;
  complaint = '';

  listen(wave: (bytes: Uint8Array) => void): void {
    this.#wave = wave;
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

function removeFiles(files: MemoryFiles, folder: string, isKept: (path: string) => boolean): void {
  for (const name of files.readdir(folder)) {
    const path = `${folder}/${name}`;
    if (name === '.' || name === '..') {
      continue;
    }
    if (files.isDir(files.stat(path).mode)) {
      removeFiles(files, path, isKept);
    } else if (!isKept(path)) {
      files.unlink(path);
    }
  }
}
