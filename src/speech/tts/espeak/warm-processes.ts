/** Keeps espeak-ng processes ready, their voice loaded, waiting for a text. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { type EspeakVoice, espeakArguments } from './espeak-voice.ts';

/** Voices that have a process ready: the ones used last. A waiting process holds about 7 MB. */
const WARM_VOICES_MAX = 8;

export type EspeakProcess = ChildProcessWithoutNullStreams;

/** Starts every espeak-ng process, and keeps one waiting for each of the voices used last. */
export class WarmProcesses {
  readonly #program: string;
  /** By voice, the one used last at the end. */
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
    // Told by `close` and `exitCode` to whoever holds the process; unheard, they would end this one.
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
