/** Lines of the log as people read them on a terminal; pure */

/** Colours a piece of text, or leaves it as it is where colours are not wanted. */
export type Paint = (style: 'dim' | 'bold' | 'red' | 'yellow', text: string) => string;

const LEVEL_STYLES: Readonly<Record<string, 'red' | 'yellow'>> = {
  fatal: 'red',
  error: 'red',
  warn: 'yellow',
};

/** Below the message: behind time and level. */
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
  const told = withoutControls(String(msg ?? ''));
  const stack: unknown = err?.stack;
  const facts = Object.entries(typeof stack === 'string' ? fields : { ...fields, err })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${valueText(value)}`);
  return [
    `${paint('dim', localTime(time))} ${paint(style ?? 'dim', String(level).toUpperCase().padEnd(5))}`,
    ` ${style === undefined ? told : paint(style, told)}`,
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

/** A word as it is, anything else as JSON. */
function valueText(value: unknown): string {
  const isWord = typeof value === 'string' && /^[^\s"'\p{Cc}]+$/u.test(value);
  return isWord ? value : withoutControls(JSON.stringify(value));
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
