/** Login back-off against password guessing: per client and in total. A client is an address and what it guesses. */
import {
  FREE_TRIES_OF_ALL,
  FREE_TRIES_OF_CLIENT,
  nextTryAtMs,
  type WrongTries,
  withWrongTry,
} from '../domain/account/user.ts';
import type { Clock } from '../lib/clock.ts';

/** Clients cached; beyond, the one that tried longest ago is forgotten: what counts then is the count of all. */
const CLIENTS_MAX = 10_000;

/** Clients that have signed in, cached until the server stops. */
const KNOWN_CLIENTS_MAX = 100;

/** Back-off after wrong passwords, by client address and in total. */
export class LoginGuard {
  readonly #clock: Clock;
  readonly #triesOf = new Map<string, WrongTries>();
  readonly #known = new Set<string>();
  #triesOfAll: WrongTries | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long until the client may try, in milliseconds; 0 when it may now. */
  waitMs(client: string): number {
    const own = this.#triesOf.get(client);
    const ownAtMs = own === undefined ? 0 : nextTryAtMs(own, FREE_TRIES_OF_CLIENT);
    // A crowd of guessers must not lock out users who have been here before.
    const all = this.#known.has(client) ? undefined : this.#triesOfAll;
    const allAtMs = all === undefined ? 0 : nextTryAtMs(all, FREE_TRIES_OF_ALL);
    return Math.max(0, Math.max(ownAtMs, allAtMs) - this.#clock.nowMs());
  }

  /**
   * Counts a try as wrong before anybody knows: tries that come together would all be free otherwise.
   *
   * @returns takes the count back, when the try told nothing or was right.
   */
  begin(client: string): () => void {
    const nowMs = this.#clock.nowMs();
    const before = { own: this.#triesOf.get(client), all: this.#triesOfAll };
    this.#put(client, withWrongTry(before.own, nowMs));
    this.#triesOfAll = withWrongTry(before.all, nowMs);
    return () => {
      this.#put(client, oneLess(this.#triesOf.get(client)));
      this.#triesOfAll = oneLess(this.#triesOfAll);
    };
  }

  /** Forgets the client's wrong tries, and knows it from now on. */
  signedIn(client: string): void {
    this.#triesOf.delete(client);
    this.#known.delete(client);
    const [oldest] = this.#known;
    if (this.#known.size >= KNOWN_CLIENTS_MAX && oldest !== undefined) this.#known.delete(oldest);
    this.#known.add(client);
  }

  #put(client: string, tries: WrongTries | undefined): void {
    this.#triesOf.delete(client);
    if (tries === undefined) return;
    const [oldest] = this.#triesOf.keys();
    if (this.#triesOf.size >= CLIENTS_MAX && oldest !== undefined) this.#triesOf.delete(oldest);
    this.#triesOf.set(client, tries);
  }
}

function oneLess(tries: WrongTries | undefined): WrongTries | undefined {
  return tries === undefined || tries.count <= 1 ? undefined : { ...tries, count: tries.count - 1 };
}
