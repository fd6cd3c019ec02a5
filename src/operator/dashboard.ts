/** The dashboard's side of the server: users, sessions and their keys, and the page's files. */

import { isSetUp, SETUP_LINK_LIFE_MS, type UserStore } from '../domain/account/user.ts';
import type { NewId, RandomBytes } from '../domain/ids.ts';
import type { Clock } from '../lib/clock.ts';
import { LoginGuard } from './login-guard.ts';
import { OperatorSessions, PhoneTickets, SessionKeys } from './operator-sessions.ts';
import { BuiltFiles } from './pages.ts';
import { PasswordHasher } from './password-hasher.ts';
import { hashOfText, isSameText, newSecretText } from './secret-text.ts';
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

  /** Makes the link's token; the one before is good for nothing from now on. Only the hash is kept. */
  issue(): string {
    const token = newSecretText(this.#random);
    this.#known = {
      hash: hashOfText(token),
      endsAtMs: this.#clock.nowMs() + SETUP_LINK_LIFE_MS,
    };
    return token;
  }

  /** Whether the token is that of the link, which is neither old nor used. */
  isGood(token: string): boolean {
    const known = this.#known;
    if (known === undefined || this.#clock.nowMs() >= known.endsAtMs) return false;
    return isSameText(hashOfText(token), known.hash);
  }

  /** No token is good any more. */
  close(): void {
    this.#known = undefined;
  }
}
