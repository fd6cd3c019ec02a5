/** Shows how far the downloads are: one line that changes on a terminal, a line every few seconds elsewhere. */
import type { Clock } from '../lib/clock.ts';
import { bytesText, spanText } from './wording.ts';

/** Where text goes. */
export interface Screen {
  /** Whether lines can be written over. */
  readonly isTerminal: boolean;
  /** In characters. */
  readonly columns: number;
  write(text: string): void;
  /** Colours a word, where that is wanted. */
  paint(style: 'green' | 'red' | 'yellow' | 'bold', text: string): string;
}

const REDRAW_MS = 200;

const LINE_MS = 5000;

const BAR_CELLS = 24;

/** The speed is that of the last so many milliseconds. */
const SPEED_MS = 10_000;

interface Item {
  readonly bytes: number | null;
  done: number;
  isActive: boolean;
}

export class Progress {
  readonly #screen: Screen;
  readonly #clock: Clock;
  readonly #items = new Map<string, Item>();
  #cancel: () => void = () => undefined;
  /** Instants and bytes that came until then, newest last. */
  #samples: { readonly atMs: number; readonly came: number }[] = [];
  #came = 0;
  #isShown = false;

  constructor(options: { readonly screen: Screen; readonly clock: Clock }) {
    this.#screen = options.screen;
    this.#clock = options.clock;
  }

  /** @param bytes null when nobody knows. @param there already, which counts as done but not for the speed. */
  add(name: string, bytes: number | null, there: number): void {
    this.#items.set(name, { bytes, done: there, isActive: false });
  }

  /** Begins to show. Call `stop` in any case. */
  start(): void {
    this.#samples = [{ atMs: this.#clock.nowMs(), came: 0 }];
    this.#schedule();
  }

  /** Safe to call twice. */
  stop(): void {
    this.#cancel();
    this.#clear();
  }

  /** @param done bytes of the item that are there now. */
  update(name: string, done: number): void {
    const item = this.#items.get(name);
    if (item === undefined) return;
    this.#came += Math.max(0, done - item.done);
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
    const everyMs = this.#screen.isTerminal ? REDRAW_MS : LINE_MS;
    this.#cancel = this.#clock.after(everyMs, () => {
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
    // A line that breaks could not be written over.
    this.#screen.write(`\r\u001b[K${text.slice(0, Math.max(20, this.#screen.columns - 1))}`);
    this.#isShown = true;
  }

  /** Null while nothing is on its way. */
  #text(): string | null {
    const items = [...this.#items];
    const active = items.filter(([, { isActive }]) => isActive).map(([name]) => name);
    if (active.length === 0) return null;
    const done = items.reduce((sum, [, item]) => sum + item.done, 0);
    const total = items.reduce((sum, [, item]) => sum + (item.bytes ?? item.done), 0);
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const speed = this.#bytesPerMs();
    const rest = speed > 0 ? `, ${spanText((total - done) / speed)} left` : '';
    const percent = `${String(Math.floor(share * 100)).padStart(3)} %`;
    const sizes = `${bytesText(done)} of ${bytesText(total)}`;
    const pace = `${bytesText(speed * 1000)}/s${rest}`;
    const bar = this.#screen.isTerminal ? `${barOf(share)} ` : '';
    return `${bar}${percent}  ${sizes}, ${pace}  ${active.join(', ')}`;
  }

  #bytesPerMs(): number {
    const atMs = this.#clock.nowMs();
    this.#samples.push({ atMs, came: this.#came });
    while (this.#samples.length > 2 && atMs - (this.#samples[1]?.atMs ?? atMs) >= SPEED_MS) {
      this.#samples.shift();
    }
    const [first] = this.#samples;
    if (first === undefined || atMs <= first.atMs) return 0;
    return (this.#came - first.came) / (atMs - first.atMs);
  }
}

function barOf(share: number): string {
  const full = Math.round(share * BAR_CELLS);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_CELLS - full)}]`;
}
