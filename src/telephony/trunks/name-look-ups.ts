/** Addresses of names, looked up again every half minute. */
import { type Clock, within } from '../../lib/clock.ts';

/** How long a call may go to the former address, or be told it, after a name has another one. */
const KEPT_MS = 30_000;

/** The system's resolver has no limit that is worth the name. */
const ANSWER_MS_MAX = 5_000;

/** An installation may have 1000 trunks, and a resolver drops queries when it is flooded. */
const LOOK_UPS_MAX = 16;

interface Options<Asked> {
  readonly ask: (asked: Asked) => Promise<readonly string[]>;
  /**
   * Receives every answer, before it counts.
   *
   * @param answer is empty where none came in time.
   * @param former is undefined at the first answer of a name.
   */
  readonly onAnswer?: (
    name: string,
    answer: readonly string[],
    former: readonly string[] | undefined,
  ) => void;
  /** Called when no look-up is in progress any more. */
  readonly onSettled?: () => void;
  readonly clock: Clock;
}

interface Found {
  readonly addresses: readonly string[];
  readonly untilMs: number;
}

/** The newest addresses of each name, with what is asked for it. A name without an answer keeps its former addresses. */
export class NameLookUps<Asked> {
  readonly #options: Options<Asked>;
  #names: ReadonlyMap<string, Asked> = new Map();
  readonly #found = new Map<string, Found>();
  readonly #lookUps = new Map<string, Promise<readonly string[]>>();
  #isRunning = false;
  #cancelNext: () => void = () => {};

  constructor(options: Options<Asked>) {
    this.#options = options;
  }

  /** Begins to look the names up; waits for none. */
  start(): void {
    this.#isRunning = true;
    this.#lookUpDue();
  }

  /** Knows these names from now on, and forgets others. Waits for no look-up. */
  use(names: ReadonlyMap<string, Asked>): void {
    this.#names = names;
    for (const name of this.#found.keys()) if (!names.has(name)) this.#found.delete(name);
    this.#lookUpDue();
  }

  /** Safe to call twice. */
  stop(): void {
    this.#isRunning = false;
    this.#cancelNext();
  }

  /** Whether some name has the address. */
  has(address: string): boolean {
    return [...this.#found.values()].some(({ addresses }) => addresses.includes(address));
  }

  /** Addresses of a name as far as it has been resolved, the preferred one first. */
  of(name: string): readonly string[] {
    return this.#found.get(name)?.addresses ?? [];
  }

  /** As `of`, but resolves the name first where its addresses are not recent. */
  async locate(name: string, asked: Asked): Promise<readonly string[]> {
    return this.#isDue(name) ? await this.#lookUp(name, asked) : this.of(name);
  }

  /** The rest follows when a look-up is over. */
  #lookUpDue(): void {
    this.#cancelNext();
    if (!this.#isRunning || this.#names.size === 0) return;
    for (const [name, asked] of this.#names) {
      if (this.#lookUps.size >= LOOK_UPS_MAX) return;
      if (this.#isDue(name)) void this.#lookUp(name, asked);
    }
    this.#cancelNext = this.#options.clock.after(KEPT_MS, () => this.#lookUpDue());
  }

  #isDue(name: string): boolean {
    const found = this.#found.get(name);
    return found === undefined || this.#options.clock.nowMs() >= found.untilMs;
  }

  #lookUp(name: string, asked: Asked): Promise<readonly string[]> {
    const lookUp = this.#lookUps.get(name) ?? this.#ask(name, asked);
    this.#lookUps.set(name, lookUp);
    return lookUp;
  }

  async #ask(name: string, asked: Asked): Promise<readonly string[]> {
    const { ask, clock, onAnswer, onSettled } = this.#options;
    // A late answer counts as none: the next look-up follows soon.
    const answer = await within(clock, ANSWER_MS_MAX, ask(asked)).catch(() => []);
    this.#lookUps.delete(name);
    const former = this.#found.get(name)?.addresses;
    const addresses = answer.length > 0 ? answer : (former ?? []);
    if (this.#names.has(name)) {
      onAnswer?.(name, answer, former);
      this.#found.set(name, { addresses, untilMs: clock.nowMs() + KEPT_MS });
    }
    this.#lookUpDue();
    if (this.#isRunning && this.#lookUps.size === 0) onSettled?.();
    return addresses;
  }
}
