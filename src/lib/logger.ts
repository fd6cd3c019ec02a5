/** The log: one JSON object a line, without callers' words, numbers or secrets; its destination may be slow, and the server never waits. */

import { constants, openSync, write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { Clock } from './clock.ts';
import { isObject } from './unknown-value.ts';

/** Log of a plane. The shape is pino's; planes know only this. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(bindings: object): Logger;
}

type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/** Fields that never reach the log, whichever object carries them: words, numbers, prompts, secrets. */
const HIDDEN_FIELDS = [
  'text',
  'transcript',
  'from',
  'to',
  'caller',
  'phoneNumber',
  'greeting',
  'systemPrompt',
  'arguments',
  'messages',
  'password',
  'secret',
  'inline',
  'key',
  'authorization',
  'metadata',
];

const HIDDEN_PATHS = HIDDEN_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);

/** Opens the process's log: one JSON object a line. @param destination takes whole lines and never throws. */
export function openLogger(level: LogLevel, destination: { write(line: string): unknown }): Logger {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: errorFields },
    redact: { paths: HIDDEN_PATHS, censor: '[hidden]' },
  };
  return pino(options, { write: (line) => void destination.write(line) });
}

/** An error with its causes. Most messages end in their cause's, which pino would add to them once more. */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const fields = stdSerializers.err(error);
  const { cause, message } = error;
  const isTold = cause instanceof Error && message.includes(cause.message);
  return isTold ? { ...fields, message } : fields;
}

/** A log that discards every line. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};

/** Some 4,000 lines: the first minutes of a disk that is full. */
const WAITING_BYTES_MAX = 1024 * 1024;

/** Pause before the next try: a reader that is slow for a moment, and a disk that is full. */
const SLOW_MS = 50;
const FAILED_MS = 1000;

const SLOW = 'the reader is too slow';

const STDOUT = 1;

/** Log lines that were dropped: memory for them was full while writing failed. */
export interface LostLines {
  readonly lines: number;
  /** The system's reason, such as `ENOSPC: no space left on device, write`. */
  readonly reason: string;
}

/**
 * Writes lines to a descriptor that does not block: a regular file, or anything opened with O_NONBLOCK.
 *
 * Errors are never thrown: writing is tried again until it works, and lines beyond 1 MiB are lost and counted.
 */
export class LogDestination {
  readonly #fd: number;
  readonly #clock: Clock;
  #waiting: string[] = [];
  #waitingBytes = 0;
  /** The text being written, or waiting for another attempt. */
  #rest: Buffer = Buffer.alloc(0);
  #isWriting = false;
  #isPausing = false;
  /** From the first line that did not fit until all text in memory is written: the loss is one piece of the log. */
  #isLosing = false;
  #linesLost = 0;
  #linesReported = 0;
  #reason = SLOW;
  #onLoss: (lost: LostLines) => void = () => undefined;

  constructor(options: { readonly fd: number; readonly clock: Clock }) {
    this.#fd = options.fd;
    this.#clock = options.clock;
  }

  /** Lines lost since the start. */
  get linesLost(): number {
    return this.#linesLost;
  }

  /** Sets the listener for lost lines, called when the lines in memory are written. It may write a line. */
  onLoss(listener: (lost: LostLines) => void): void {
    this.#onLoss = listener;
  }

  /** @param line with its line feed. */
  write(line: string): void {
    const sizeBytes = Buffer.byteLength(line);
    const isFull = this.#rest.length + this.#waitingBytes + sizeBytes > WAITING_BYTES_MAX;
    this.#isLosing ||= isFull;
    if (this.#isLosing) {
      this.#linesLost += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += sizeBytes;
    if (!this.#isWriting && !this.#isPausing) this.#writeNext();
  }

  /** Writes the buffered lines as far as the descriptor takes them without waiting; for the end of the process. */
  flush(): void {
    const tried = this.#isWriting ? [] : [this.#rest];
    this.#rest = Buffer.alloc(0);
    let rest = Buffer.concat([...tried, this.#takeWaiting()]);
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#fd, rest));
    } catch {
      // The process ends now: lines that the descriptor does not take are lost, and cannot be reported.
    }
  }

  #writeNext(): void {
    if (this.#rest.length === 0) this.#rest = this.#takeWaiting();
    if (this.#rest.length === 0) return;
    this.#isWriting = true;
    write(this.#fd, this.#rest, (error, sizeBytes) => {
      if (error === null) this.#wrote(sizeBytes);
      else this.#pause(error);
    });
  }

  #wrote(sizeBytes: number): void {
    this.#rest = this.#rest.subarray(sizeBytes);
    // Not before: the report must fit into memory, and stand where the lines are missing.
    if (this.#rest.length === 0 && this.#waiting.length === 0) {
      this.#isLosing = false;
      this.#reportLoss();
      this.#reason = SLOW;
    }
    this.#isWriting = false;
    this.#writeNext();
  }

  #pause(error: NodeJS.ErrnoException): void {
    const isSlow = error.code === 'EAGAIN';
    this.#isWriting = false;
    this.#reason = isSlow ? SLOW : error.message;
    this.#isPausing = true;
    this.#clock.after(isSlow ? SLOW_MS : FAILED_MS, () => {
      this.#isPausing = false;
      this.#writeNext();
    });
  }

  #takeWaiting(): Buffer {
    const lines = this.#waiting.join('');
    this.#waiting = [];
    this.#waitingBytes = 0;
    return Buffer.from(lines);
  }

  #reportLoss(): void {
    const lines = this.#linesLost - this.#linesReported;
    if (lines === 0) return;
    this.#linesReported = this.#linesLost;
    this.#onLoss({ lines, reason: this.#reason });
  }
}

/** Opens standard output for the log. At the end of the process, buffered lines are written as far as this does not block. */
export function openStandardOutput(clock: Clock): LogDestination {
  const destination = new LogDestination({ fd: nonBlockingStdout(), clock });
  process.on('exit', () => destination.flush());
  return destination;
}

/** A write that blocks would occupy a thread of Node's pool, which the end of the process waits for. */
function nonBlockingStdout(): number {
  // Making Node's own stream sets a pipe or socket to O_NONBLOCK. Without a listener, its errors and those
  // of standard error, where packages write warnings, would end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  // A stopped terminal (Ctrl-S) blocks writes. On Linux it is opened a second time, as non-blocking; elsewhere it may block.
  if (!isatty(STDOUT) || process.platform !== 'linux') return STDOUT;
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
  try {
    return openSync('/proc/self/fd/1', O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    // The terminal belongs to another user (su, sudo): it is written to as it was given.
    return STDOUT;
  }
}

/** Colours a piece of text, or leaves it as it is where colours are not wanted. */
export type Paint = (style: 'dim' | 'bold' | 'red' | 'yellow', text: string) => string;

const LEVEL_STYLES: Readonly<Record<string, 'red' | 'yellow'>> = {
  fatal: 'red',
  error: 'red',
  warn: 'yellow',
};

/** Indentation of the lines below a message, past time and level. */
const INDENT = ' '.repeat(19);

/**
 * Turns one JSON line of the log into text:
 *
 * ```
 * 11:23:08.917 WARN  language model failed  model=ollama/qwen3:4b next=scripted/front-desk
 *                    Error: and the stack of `err`, where there is one
 * ```
 *
 * Times are local. Control characters are written as escapes: no caller moves the cursor or colours the terminal.
 *
 * @param line as the logger writes it
 * @returns text that ends with a line feed
 */
export function prettyLine(line: string, paint: Paint): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line);
  const style = LEVEL_STYLES[level];
  const message = withoutControls(String(msg ?? ''));
  const stack: unknown = err?.stack;
  const facts = Object.entries(typeof stack === 'string' ? fields : { ...fields, err })
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => factsOf(name, value));
  return [
    `${paint('dim', localTime(time))} ${paint(style ?? 'dim', String(level).toUpperCase().padEnd(5))}`,
    ` ${style === undefined ? message : paint(style, message)}`,
    facts.length === 0 ? '' : `  ${paint('dim', facts.join(' '))}`,
    '\n',
    typeof stack === 'string' ? stackText(stack) : '',
  ].join('');
}

/** `HH:MM:SS.mmm` of this machine's time zone. */
function localTime(time: string): string {
  const at = new Date(time);
  const pad = (value: number, width = 2) => String(value).padStart(width, '0');
  const [hours, minutes, seconds] = [at.getHours(), at.getMinutes(), at.getSeconds()];
  return `${pad(hours)}:${pad(minutes)}:${pad(seconds)}.${pad(at.getMilliseconds(), 3)}`;
}

/** `name=value`; the fields of an object each, as `name.field=value`, and a list of words as `name=a,b`. */
function factsOf(name: string, value: unknown): readonly string[] {
  if (Array.isArray(value) && value.length > 0 && value.every(isWord)) {
    return [`${name}=${value.join(',')}`];
  }
  if (!isObject(value)) {
    return [`${name}=${valueText(value)}`];
  }
  return Object.entries(value).flatMap(([field, inner]) => factsOf(`${name}.${field}`, inner));
}

/** A word as it is, anything else as JSON. */
function valueText(value: unknown): string {
  return isWord(value) ? value : withoutControls(JSON.stringify(value));
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && /^[^\s"'\p{Cc}]+$/u.test(value);
}

function stackText(stack: string): string {
  return `${stack
    .split('\n')
    .map((line) => `${INDENT}${withoutControls(line)}\n`)
    .join('')}`;
}

function withoutControls(text: string): string {
  return text.replace(
    /\p{Cc}/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}
