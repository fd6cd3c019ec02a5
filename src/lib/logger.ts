/** The log: one JSON object a line, without callers' words, numbers, prompts or secrets. */
import { pino, stdSerializers, stdTimeFunctions } from 'pino';

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
