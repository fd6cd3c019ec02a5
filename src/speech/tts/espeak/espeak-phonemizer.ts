/** Has espeak-ng write down how words are said: the installed program, or the WASM build. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import type { Phonemizer } from '../neural/voice-model.ts';
import { espeakProgramVersion } from './espeak-program.ts';
import { phonemeArguments } from './espeak-voice.ts';
import type { PhonemeAnswer, PhonemeRequest } from './phonemizer-child.ts';

/** A sentence takes 5 ms; a process that needs this long has hung. */
const TIMEOUT_MS = 5000;

const OUTPUT_BYTES_MAX = 200_000;

/** Mark of a word that is read in another language: `(en)`, `(de)`. */
const LANGUAGE_SWITCH = /\([a-z-]{2,12}\)/g;

/** Sources of espeak-ng: the program is asked where it runs, the WASM build where it does not. */
export interface PhonemizerChoice {
  /** Name on PATH, or path. */
  readonly program: string;
  /** npm package. */
  readonly moduleName: string;
}

/** @param choice a `PhonemizerChoice`. */
export function openPhonemizer(choice: object): Phonemizer {
  const { program, moduleName } = choice as PhonemizerChoice;
  let asker: Promise<Asker> | undefined;
  const open = () => {
    asker ??= espeakProgramVersion(program).then(
      () => programAsker(program),
      () => wasmAsker(moduleName),
    );
    return asker;
  };
  return {
    phonemes: async (chunks, voice) => readOut(await open(), chunks, voice),
    stop: async () => (await asker)?.stop(),
  };
}

async function readOut(
  asker: Asker,
  chunks: readonly string[],
  voice: string,
): Promise<readonly string[]> {
  const lines = linesOf(await asker.ask(chunks.join('\n\n'), voice));
  if (lines.length === chunks.length) return lines;
  // A chunk that is too long for one line, or that has no sound, puts all after it out of step.
  const answers: string[] = [];
  for (const chunk of chunks) answers.push(linesOf(await asker.ask(chunk, voice)).join(' '));
  return answers;
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

/** Asks a separate process, because of its licence; the process starts with the first question, and again after a crash. */
function wasmAsker(moduleName: string): Asker {
  let child: ChildProcess | undefined;
  let nextId = 1;
  const open = () => {
    if (child?.connected === true) return child;
    child = fork(new URL('./phonemizer-child.ts', import.meta.url), [moduleName], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    // A question to a child that has just died fails here; its `exit` event handles that.
    child.on('error', () => undefined);
    return child;
  };
  return {
    ask: (text, voice) => askChild(open(), { id: nextId++, text, voice }),
    stop: async () => {
      child?.kill('SIGKILL');
    },
  };
}

function askChild(child: ChildProcess, request: PhonemeRequest): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const fail = (reason: string) => reject(new Error(`espeak-ng gave no phonemes: ${reason}`));
  const hear = (answer: PhonemeAnswer) => {
    if (answer.id !== request.id) return;
    if ('phonemes' in answer) resolve(answer.phonemes);
    else fail(answer.reason);
  };
  const die = () => fail('its process ended');
  const late = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
  child.on('message', hear);
  child.once('exit', die);
  child.send(request, () => undefined);
  return promise.finally(() => {
    clearTimeout(late);
    child.off('message', hear);
    child.off('exit', die);
  });
}
