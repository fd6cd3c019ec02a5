/** What the server tells its operator, without ever telling what callers said or which number they have. */
import { type Logger as PinoLogger, pino, stdSerializers, stdTimeFunctions } from 'pino';

/** Where a plane writes its log. The shape is pino's; planes know only this. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(bindings: object): Logger;
}

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/** Fields that never reach the log, whichever object carries them: words, numbers, prompts, secrets. */
const HIDDEN_FIELDS: ReadonlySet<string> = new Set([
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
  'key',
  'authorization',
  'metadata',
]);

/** Fields of fields of fields; what lies deeper is not looked at. */
const DEPTH_MAX = 3;

/** Opens the process's log on standard output: one JSON object a line. */
export function openLogger(level: LogLevel, destination?: NodeJS.WritableStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    // Pino's own redaction takes twenty times as long as the rest of a line.
    formatters: { level: (label: string) => ({ level: label }), log: shown },
    serializers: { err: (error: unknown) => error },
  };
  return loggerOf(destination === undefined ? pino(options) : pino(options, destination));
}

/** Pino writes what a child carries without asking the formatters. */
function loggerOf(log: PinoLogger): Logger {
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    child: (bindings) => loggerOf(log.child(shown(bindings))),
  };
}

/** A copy that hides what must not be told. */

function shown(fields: object, depth = 1): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    copy[name] = HIDDEN_FIELDS.has(name) ? '[hidden]' : shownValue(value, depth + 1);
  }
  return copy;
}

function shownValue(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return value;
  if (value instanceof Error) return shown(stdSerializers.err(value), depth);
  if (Array.isArray(value)) return value.map((item) => shownValue(item, depth + 1));
  // Such as a date.
  return 'toJSON' in value ? value : shown(value, depth);
}

/** A log that nobody reads. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
