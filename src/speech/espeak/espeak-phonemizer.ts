/** Has espeak-ng write down how words are said: the installed program, or the WASM build. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Phonemizer } from '../voice-model.ts';
import type { EspeakEngine } from './speaking-messages.ts';
import { EspeakInstance, type EspeakModule, loadModule } from './wasm-instance.ts';

/** A sentence takes 5 ms; a process that needs this long has hung. */
const TIMEOUT_MS = 5000;

const OUTPUT_BYTES_MAX = 200_000;

/** Where a word is read in another language: `(en)`, `(de)`. */
const LANGUAGE_SWITCH = /\([a-z-]{2,12}\)/g;

/** @param choice an `EspeakEngine`. */
export function openPhonemizer(choice: object): Phonemizer {
  const engine = choice as EspeakEngine;
  const ask =
    engine.kind === 'program' ? programAsker(engine.program) : wasmAsker(engine.moduleName);
  return {
    phonemes: async (chunks, voice) => {
      const lines = linesOf(await ask.ask(chunks.join('\n\n'), voice));
      if (lines.length === chunks.length) return lines;
      // A chunk that is too long for one line, or that has no sound, puts all after it out of step.
      const answers: string[] = [];
      for (const chunk of chunks) answers.push(linesOf(await ask.ask(chunk, voice)).join(' '));
      return answers;
    },
    stop: () => ask.stop(),
  };
}

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.replace(LANGUAGE_SWITCH, '').replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '');
}

interface Asker {
  ask(text: string, voice: string): Promise<string>;
  stop(): Promise<void>;
}

/** Words of the command line that write phonemes of UTF-8 text to standard output. */
export function phonemeArguments(voice: string): string[] {
  return ['-q', '--ipa', '-b', '1', '-v', voice];
}

function programAsker(program: string): Asker {
  const alive = new Set<ChildProcess>();
  return {
    ask: (text, voice) => askProgram(spawnIn(alive, program, voice), text),
    stop: async () => {
      for (const child of alive) child.kill('SIGKILL');
    },
  };
}

function spawnIn(alive: Set<ChildProcess>, program: string, voice: string) {
  // The text goes in by standard input, never as an argument, and no shell reads the command.
  const child = spawn(program, [...phonemeArguments(voice), '--stdin'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    shell: false,
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  alive.add(child);
  child.once('close', () => alive.delete(child));
  return child;
}

function askProgram(child: ReturnType<typeof spawnIn>, text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  child.stdin.on('error', () => undefined);
  child.stdout.on('data', (bytes: Buffer) => {
    sizeBytes += bytes.length;
    if (sizeBytes <= OUTPUT_BYTES_MAX) pieces.push(bytes);
  });
  child.once('error', (error) => reject(new Error(`espeak-ng does not run: ${error.message}`)));
  child.once('close', (exitCode, signal) => {
    if (exitCode === 0) resolve(Buffer.concat(pieces).toString('utf8'));
    else reject(new Error(`espeak-ng gave no phonemes: it ended with ${signal ?? exitCode}`));
  });
  child.stdin.end(text);
  return promise;
}

/** One text at a time; each takes an instance of its own, 80 ms. */
function wasmAsker(moduleName: string): Asker {
  let module: Promise<EspeakModule> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const askOne = async (text: string, voice: string): Promise<string> => {
    module ??= loadModule(moduleName);
    const instance = await EspeakInstance.make(await module);
    const pieces: Uint8Array[] = [];
    instance.write(phonemeArguments(voice), { text, voice }, (bytes) => pieces.push(bytes.slice()));
    return Buffer.concat(pieces).toString('utf8');
  };
  return {
    ask: (text, voice) => {
      const answer = last.then(() => askOne(text, voice));
      last = answer.catch(() => undefined);
      return answer;
    },
    stop: () => Promise.resolve(),
  };
}
