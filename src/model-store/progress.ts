/** Download progress: one line that changes on a terminal, a line every few seconds elsewhere. */
import type { Clock } from '../lib/clock.ts';

/** Output of the command. */
export interface Screen {
  /** Whether lines can be overwritten. */
  readonly isTerminal: boolean;
  /** In characters. */
  readonly columns: number;
  write(text: string): void;
  /** Colours a word, where colours are wanted. */
  paint(style: 'green' | 'red' | 'yellow', text: string): string;
  /** Receives progress as numbers; the server that has started the command shows them. */
  readonly report?: ((report: ProgressReport) => void) | undefined;
}

/** How far a download is. */
export interface ProgressReport {
  /** Bytes done of all files, including files that were there. */
  readonly doneBytes: number;
  readonly totalBytes: number;
  /** Average since the start. */
  readonly bytesPerSecond: number;
  /** Names of the downloads under way. */
  readonly files: readonly string[];
}

const REDRAW_MS = 200;
const LINE_MS = 5000;
const REPORT_MS = 500;
const BAR_CELLS = 24;

interface Item {
  readonly bytes: number | null;
  done: number;
  isActive: boolean;
}

/** Progress of several downloads together. Call `stop` in any case. */
export class Progress {
  readonly #screen: Screen;
  readonly #clock: Clock;
  readonly #items = new Map<string, Item>();
  #cancel: () => void = () => undefined;
  #startedAtMs = 0;
  #received = 0;
  #isShown = false;

  constructor(options: { readonly screen: Screen; readonly clock: Clock }) {
    this.#screen = options.screen;
    this.#clock = options.clock;
  }

  /** @param bytes size; null when unknown. @param there bytes present before, which count as done but not for the speed. */
  add(name: string, bytes: number | null, there: number): void {
    this.#items.set(name, { bytes, done: there, isActive: false });
  }

  start(): void {
    this.#startedAtMs = this.#clock.nowMs();
    this.#schedule();
  }

  /** Safe to call twice. */
  stop(): void {
    this.#cancel();
    this.#clear();
    this.#screen.report?.(this.#report());
  }

  /** @param done bytes of the item that are there now. */
  update(name: string, done: number): void {
    const item = this.#items.get(name);
    if (item === undefined) return;
    this.#received += Math.max(0, done - item.done);
    item.done = done;
    item.isActive = true;
  }

  finish(name: string): void {
    const item = this.#items.get(name);
    if (item !== undefined) item.isActive = false;
  }

  /** Writes a line that stays. */
  say(text: string): void {
    this.#clear();
    this.#screen.write(`${text}\n`);
  }

  #schedule(): void {
    const shownMs = this.#screen.isTerminal ? REDRAW_MS : LINE_MS;
    const { report } = this.#screen;
    this.#cancel = this.#clock.after(report === undefined ? shownMs : REPORT_MS, () => {
      report?.(this.#report());
      this.#draw();
      this.#schedule();
    });
  }

  #clear(): void {
    if (this.#isShown) this.#screen.write('\r\u001b[K');
    this.#isShown = false;
  }

  #draw(): void {
    const text = this.#text();
    if (text === null) return;
    if (!this.#screen.isTerminal) {
      this.#screen.write(`${text}\n`);
      return;
    }
    // A line that wraps could not be overwritten.
    this.#screen.write(`\r\u001b[K${text.slice(0, Math.max(20, this.#screen.columns - 1))}`);
    this.#isShown = true;
  }

  #report(): ProgressReport {
    const items = [...this.#items.values()];
    const tookMs = Math.max(1, this.#clock.nowMs() - this.#startedAtMs);
    return {
      doneBytes: items.reduce((sum, item) => sum + item.done, 0),
      totalBytes: items.reduce((sum, item) => sum + (item.bytes ?? item.done), 0),
      bytesPerSecond: Math.round((1000 * this.#received) / tookMs),
      files: [...this.#items].flatMap(([name, { isActive }]) => (isActive ? [name] : [])),
    };
  }

  /** Null while nothing is being downloaded. */
  #text(): string | null {
    const { doneBytes: done, totalBytes: total, bytesPerSecond, files: active } = this.#report();
    if (active.length === 0) return null;
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const leftMs = (1000 * (total - done)) / bytesPerSecond;
    const left = bytesPerSecond > 0 ? `, ${spanText(leftMs)} left` : '';
    const percent = `${String(Math.floor(share * 100)).padStart(3)} %`;
    const bar = this.#screen.isTerminal ? `${barOf(share)} ` : '';
    return `${bar}${percent}  ${bytesText(done)} of ${bytesText(total)}, ${bytesText(bytesPerSecond)}/s${left}  ${active.join(', ')}`;
  }
}

function barOf(share: number): string {
  const full = Math.round(share * BAR_CELLS);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_CELLS - full)}]`;
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** A size in decimal units, as disks and model pages have them: `79.7 MB`. */
export function bytesText(bytes: number): string {
  let value = Math.max(0, bytes);
  let unit = 0;
  while (value >= 999.95 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return unit === 0 ? `${Math.ceil(value)} bytes` : `${value.toFixed(1)} ${UNITS[unit]}`;
}

/** A duration: `45 s`, `3 min 20 s`, `2 h 5 min`. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Removes control characters from text of others before it is shown on the terminal. */
export function plainText(text: string): string {
  return text.replace(/\p{Cc}/gu, '');
}
