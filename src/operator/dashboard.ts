/** The dashboard's side of the server: users, sessions and their keys, and the page's files. */

import { isSetUp, type UserStore } from '../domain/account/user.ts';
import type { NewId, RandomBytes } from '../domain/ids.ts';
import type { Clock } from '../lib/clock.ts';
import { LoginGuard } from './login-guard.ts';
import { ManualFiles } from './manual-files.ts';
import { OperatorSessions } from './operator-sessions.ts';
import { PageFiles } from './page-files.ts';
import { PasswordHasher } from './password-hasher.ts';
import { PhoneTickets } from './phone-tickets.ts';
import { type RunSelfTest, SelfTestRun } from './self-test-run.ts';
import { SessionKeys } from './session-keys.ts';
import { SetupLink } from './setup-link.ts';

export interface DashboardOptions {
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

export class Dashboard {
  readonly users: UserStore;
  readonly passwords: PasswordHasher;
  readonly sessions: OperatorSessions;
  readonly keys: SessionKeys;
  readonly guard: LoginGuard;
  readonly link: SetupLink;
  readonly files: PageFiles;
  readonly manual: ManualFiles;
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
    this.files = new PageFiles(options.pageFolder);
    this.manual = new ManualFiles(options.manualFolder);
    this.tickets = new PhoneTickets(options);
    this.selfTest = new SelfTestRun({ run: options.runSelfTest, clock: options.clock });
  }

  /** The token of a new link that sets the first password; undefined where an admin has one. */
  async issueSetupToken(): Promise<string | undefined> {
    return isSetUp(await this.users.list()) ? undefined : this.link.issue();
  }
}
