/** Finds the trunks that have a number, for lists of many numbers; pure */
import type { Trunk } from './trunks.ts';

export class TrunkNumbers {
  /** Every number, or beginning and star, once, sorted. */
  readonly all: readonly string[];
  readonly #names = new Map<string, string[]>();
  readonly #beginnings: readonly { readonly start: string; readonly name: string }[];
  /** Places of the trunks in the operator's file. */
  readonly #places: ReadonlyMap<string, number>;
  /** Account ids by the trunk's name. */
  readonly #accounts: ReadonlyMap<string, string | null>;

  constructor(trunks: readonly Pick<Trunk, 'name' | 'numbers' | 'account'>[]) {
    const entries = trunks.flatMap(({ name, numbers }) =>
      numbers.map((number) => ({ name, number })),
    );
    for (const { name, number } of entries) {
      const names = this.#names.get(number) ?? [];
      if (!names.includes(name)) names.push(name);
      this.#names.set(number, names);
    }
    this.#beginnings = entries
      .filter(({ number }) => number.endsWith('*'))
      .map(({ name, number }) => ({ name, start: number.slice(0, -1) }));
    this.#places = new Map(trunks.map(({ name }, place) => [name, place]));
    this.#accounts = new Map(trunks.map(({ name, account = null }) => [name, account]));
    this.all = [...this.#names.keys()].sort();
  }

  /** Names in the order of the operator's file. A beginning and star is had by the trunks that list it, or a shorter one. */
  trunksOf(number: string): readonly string[] {
    const written = number.endsWith('*') ? number.slice(0, -1) : number;
    const byStart = this.#beginnings
      .filter(({ start }) => written.startsWith(start))
      .map(({ name }) => name);
    const names = new Set([...(this.#names.get(number) ?? []), ...byStart]);
    return [...names].sort((a, b) => this.#placeOf(a) - this.#placeOf(b));
  }

  /** Account id that the first trunk with the number names, null where it names none; undefined where no trunk has it. */
  accountOf(number: string): string | null | undefined {
    const [trunk] = this.trunksOf(number);
    return trunk === undefined ? undefined : this.#accounts.get(trunk);
  }

  #placeOf(name: string): number {
    return this.#places.get(name) ?? 0;
  }
}
