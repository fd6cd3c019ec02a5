/** Speaks with the installed espeak-ng program: one process a sentence, the next one already waiting. */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import type { Clock } from '../../../lib/clock.ts';
import { type EspeakVoice, espeakArguments, type Sentence } from './espeak-voice.ts';
import type { SentenceEngine, WaveSink } from './sentence-job.ts';

/** Sentences spoken at one time; each takes 10 to 30 ms, the others wait their turn. */
const SPEAKING_MAX = 16;

const VERSION_TIMEOUT_MS = 5000;

/** A whole sentence takes 26 ms; a process that needs this long has hung. */
const SENTENCE_TIMEOUT_MS = 10_000;

const REASON_CHARACTERS_MAX = 200;

/** Name and version, such as `eSpeak NG text-to-speech: 1.51`. @throws {Error} when the program does not run. */
export async function espeakProgramVersion(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, ['--version'], {
    timeout: VERSION_TIMEOUT_MS,
  });
  const [version] = /[^\n]*?\d+(\.\d+)+/.exec(stdout) ?? [];
  if (version === undefined) {
    throw new Error(`Cannot use "${program}": it does not tell its version as espeak-ng does`);
  }
  return version;
}

interface Turn {
  readonly sentence: Sentence;
  readonly sink: WaveSink;
  process?: EspeakProcess;
}

export class EspeakProgram implements SentenceEngine {
  readonly #program: string;
  readonly #sentenceTimeoutMs: number;
  readonly #clock: Clock;
  readonly #warm: WarmProcesses;
  readonly #speaking = new Set<Turn>();
  /** Bounded by the server's own limit of sentences asked for. */
  readonly #waiting: Turn[] = [];

  constructor(options: {
    readonly program: string;
    readonly sentenceTimeoutMs?: number;
    readonly clock: Clock;
  }) {
    this.#program = options.program;
    this.#sentenceTimeoutMs = options.sentenceTimeoutMs ?? SENTENCE_TIMEOUT_MS;
    this.#clock = options.clock;
    this.#warm = new WarmProcesses(options.program);
  }

  async start(): Promise<void> {
    await espeakProgramVersion(this.#program);
  }

  async stop(): Promise<void> {
    this.#waiting.length = 0;
    this.#speaking.clear();
    await this.#warm.stop();
  }

  speak(sentence: Sentence, sink: WaveSink): () => void {
    const turn: Turn = { sentence, sink };
    this.#waiting.push(turn);
    this.#speakNext();
    return () => this.#cancel(turn);
  }

  #cancel(turn: Turn): void {
    const place = this.#waiting.indexOf(turn);
    if (place >= 0) {
      this.#waiting.splice(place, 1);
    }
    if (this.#speaking.delete(turn)) {
      turn.process?.kill('SIGKILL');
      this.#speakNext();
    }
  }

  #speakNext(): void {
    while (this.#speaking.size < SPEAKING_MAX) {
      const turn = this.#waiting.shift();
      if (turn === undefined) {
        return;
      }
      this.#speaking.add(turn);
      this.#run(turn);
    }
  }

  #run(turn: Turn): void {
    const process = this.#warm.take(turn.sentence.voice);
    turn.process = process;
    let isSilent = true;
    let complaint = '';
    process.stdout.on('data', (bytes: Buffer) => {
      if (!this.#speaking.has(turn)) {
        return;
      }
      turn.sink.wave(bytes);
      if (isSilent) {
        isSilent = false;
        // Only now, so that it does not delay the first sound.
        this.#warm.warm(turn.sentence.voice);
      }
    });
    process.stderr.on('data', (bytes: Buffer) => {
      complaint = `${complaint}${bytes}`.slice(0, REASON_CHARACTERS_MAX);
    });
    const calm = this.#clock.after(this.#sentenceTimeoutMs, () => {
      complaint = `no end after ${this.#sentenceTimeoutMs} ms`;
      process.kill('SIGKILL');
    });
    const close = (exitCode: number | null, signal: string | null) => {
      calm();
      this.#finish(turn, exitCode === 0 ? null : complaint.trim() || `${signal ?? exitCode}`);
    };
    process.once('close', close);
    process.once('error', (error) => {
      complaint = error.message;
      close(null, null);
    });
    process.stdin.end(turn.sentence.text);
  }

  /** @param reason why it failed; null when it did not. */
  #finish(turn: Turn, reason: string | null): void {
    if (!this.#speaking.delete(turn)) {
      return;
    }
    if (reason === null) {
      turn.sink.ended();
    } else {
      turn.sink.failed(reason);
    }
    this.#speakNext();
  }
}

/** Voices that have a process ready: the ones used last. A waiting process holds about 7 MB. */
const WARM_VOICES_MAX = 8;

type EspeakProcess = ChildProcessWithoutNullStreams;

/** Starts every espeak-ng process, and keeps one waiting for each of the voices used last. */
class WarmProcesses {
  readonly #program: string;
  /** Waiting processes by voice, the one used last at the end. */
  readonly #waiting = new Map<string, EspeakProcess>();
  /** Waiting or speaking. */
  readonly #alive = new Set<EspeakProcess>();

  /** @param program name on PATH, or path, of espeak-ng. */
  constructor(program: string) {
    this.#program = program;
  }

  /** Hands out a process that has not spoken yet; a new one where none waits. It is the caller's to end. */
  take(voice: EspeakVoice): EspeakProcess {
    const key = keyOf(voice);
    const process = this.#waiting.get(key);
    this.#waiting.delete(key);
    return process !== undefined && isAlive(process) ? process : this.#spawn(voice);
  }

  /** Makes sure that one waits for the voice. Of more voices than the limit, the longest unused loses its own. */
  warm(voice: EspeakVoice): void {
    const key = keyOf(voice);
    const process = this.#waiting.get(key);
    this.#waiting.delete(key);
    this.#waiting.set(
      key,
      process !== undefined && isAlive(process) ? process : this.#spawn(voice),
    );
    const [oldestKey, oldest] = this.#waiting.entries().next().value ?? [];
    if (oldestKey !== undefined && this.#waiting.size > WARM_VOICES_MAX) {
      this.#waiting.delete(oldestKey);
      oldest?.kill('SIGKILL');
    }
  }

  /** Kills all, handed out or not, and waits for their end, so that no zombie is left to others. */
  async stop(): Promise<void> {
    this.#waiting.clear();
    const ends = [...this.#alive].map((process) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      process.once('close', () => resolve());
      process.kill('SIGKILL');
      return promise;
    });
    await Promise.all(ends);
  }

  #spawn(voice: EspeakVoice): EspeakProcess {
    // The text goes in by standard input, never as an argument, and no shell reads the command.
    const words = [...espeakArguments(voice), '--stdin'];
    const process = spawn(this.#program, words, { stdio: 'pipe', shell: false });
    // `close` and `exitCode` report it; an unhandled error event would end this process.
    process.on('error', () => undefined);
    process.stdin.on('error', () => undefined);
    if (process.pid !== undefined) {
      this.#alive.add(process);
      process.once('close', () => this.#alive.delete(process));
    }
    return process;
  }
}

function keyOf({ name, wordsPerMinute }: EspeakVoice): string {
  return `${name}@${wordsPerMinute}`;
}

function isAlive(process: EspeakProcess): boolean {
  return process.pid !== undefined && process.exitCode === null && process.signalCode === null;
}
