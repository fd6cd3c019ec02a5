/** What the operator is told whatever the log's level is: as text on a terminal, as lines of the log for programs; pure */
import type { Paint } from '../lib/pretty-line.ts';

export interface NoticeLine {
  readonly level: 'info' | 'warn';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Notice {
  /** Several lines, without the last line feed. */
  text(paint: Paint): string;
  readonly lines: readonly NoticeLine[];
}

/** One line of the log, in the form of all others; nothing in it is hidden. */
export function jsonLine({ level, message, fields }: NoticeLine, now: Date): string {
  return `${JSON.stringify({ level, time: now.toISOString(), ...fields, msg: message })}\n`;
}
