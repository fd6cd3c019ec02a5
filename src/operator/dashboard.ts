/** The dashboard's side of the server: users, sessions and their keys, the login back-off, and the page's files. */
import {
  FREE_TRIES_OF_ALL,
  FREE_TRIES_OF_CLIENT,
  isSetUp,
  nextTryAtMs,
  SETUP_LINK_LIFE_MS,
  type UserStore,
  type WrongTries,
  withWrongTry,
} from '../domain/account/user.ts';
import type { NewId, RandomBytes } from '../domain/ids.ts';
import { BoundedMap } from '../lib/bounded-map.ts';
import type { Clock } from '../lib/clock.ts';
import { hashOfText, isSameSecret, newSecretText } from '../lib/secrets.ts';
import { OperatorSessions, PhoneTickets, SessionKeys } from './operator-sessions.ts';
import { BuiltFiles } from './pages.ts';
import { PasswordHasher } from './password-hasher.ts';
import { type RunSelfTest, SelfTestRun } from './self-test.ts';

interface DashboardOptions {
  readonly users: UserStore;
  readonly clock: Clock;
  /** Cryptographically secure. */
  readonly random: RandomBytes;
  readonly newId: NewId;
  /** The folder that the page was built into; it need not be there. */
  readonly pageFolder: string;
  /** The folder that the manual was built into; it need not be there. */
  readonly manualFolder: string;
  readonly runSelfTest: RunSelfTest;
  /** @see PasswordHasher */
  readonly costLog2?: number;
}

/** The dashboard's server side: sessions, users and the guards of its requests. */
export class Dashboard {
  readonly users: UserStore;
  readonly passwords: PasswordHasher;
  readonly sessions: OperatorSessions;
  readonly keys: SessionKeys;
  readonly guard: LoginGuard;
  readonly link: SetupLink;
  readonly files: BuiltFiles;
  readonly manual: BuiltFiles;
  readonly tickets: PhoneTickets;
  readonly selfTest: SelfTestRun;

  constructor(options: DashboardOptions) {
    const findUser = (userId: string) => options.users.find(userId);
    const sessions = new OperatorSessions({ ...options, findUser });
    this.users = options.users;
    this.passwords = new PasswordHasher(options);
    this.sessions = sessions;
    this.keys = new SessionKeys({ ...options, userOf: (hash) => sessions.userOf(hash) });
    this.guard = new LoginGuard(options.clock);
    this.link = new SetupLink(options);
    this.files = new BuiltFiles(options.pageFolder);
    this.manual = new BuiltFiles(options.manualFolder);
    this.tickets = new PhoneTickets(options);
    this.selfTest = new SelfTestRun({ run: options.runSelfTest, clock: options.clock });
  }

  /** The token of a new link that sets the first password; undefined where an admin has one. */
  async issueSetupToken(): Promise<string | undefined> {
    return isSetUp(await this.users.list()) ? undefined : this.link.issue();
  }
}

/** The link that sets the operator's first password: made at each start while there is none, good for one use. */
class SetupLink {
  readonly #clock: Clock;
  readonly #random: RandomBytes;
  #known: { readonly hash: string; readonly endsAtMs: number } | undefined;

  constructor(options: { readonly clock: Clock; readonly random: RandomBytes }) {
    this.#clock = options.clock;
    this.#random = options.random;
  }

  /** Makes the link's token; the token before it becomes void. Only the hash is kept. */
  issue(): string {
    const token = newSecretText(this.#random);
    this.#known = {
      hash: hashOfText(token),
      endsAtMs: this.#clock.nowMs() + SETUP_LINK_LIFE_MS,
    };
    return token;
  }

  /** Whether the token is the link's, not expired and not used. */
  isGood(token: string): boolean {
    const known = this.#known;
    if (known === undefined || this.#clock.nowMs() >= known.endsAtMs) return false;
    return isSameSecret(hashOfText(token), known.hash);
  }

  /** No token is good any more. */
  close(): void {
    this.#known = undefined;
  }
}

/** Clients cached. Beyond, the client with the oldest try is forgotten, and only the total count limits it. */
const CLIENTS_MAX = 10_000;

/** Clients that have signed in, cached until the server stops. */
const KNOWN_CLIENTS_MAX = 100;

/** Back-off after wrong passwords, by client address and in total. */
export class LoginGuard {
  readonly #clock: Clock;
  readonly #triesOf = new BoundedMap<string, WrongTries>(CLIENTS_MAX);
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
   * Counts a try as wrong before its result is known: concurrent tries would all be free otherwise.
   *
   * @returns takes the count back, when the try was right or had no result.
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
    if (tries === undefined) this.#triesOf.delete(client);
    else this.#triesOf.set(client, tries);
  }
}

function oneLess(tries: WrongTries | undefined): WrongTries | undefined {
  return tries === undefined || tries.count <= 1 ? undefined : { ...tries, count: tries.count - 1 };
}
