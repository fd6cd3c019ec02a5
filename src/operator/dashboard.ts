/** The dashboard's side of the server: the operator's password and sessions, their keys, and the page's files. */

import type { SecretStore } from '../domain/account/bootstrap.ts';
import type { NewId, RandomBytes } from '../domain/ids.ts';
import type { Clock } from '../lib/clock.ts';
import { LoginGuard } from './login-guard.ts';
import { ManualFiles } from './manual-files.ts';
import { OperatorPassword } from './operator-password.ts';
import { OperatorSessions } from './operator-sessions.ts';
import { PageFiles } from './page-files.ts';
import { PhoneTickets } from './phone-tickets.ts';
import { type RunSelfTest, SelfTestRun } from './self-test-run.ts';
import { SessionKeys } from './session-keys.ts';
import { SetupLink } from './setup-link.ts';

export interface DashboardOptions {
  readonly secrets: SecretStore;
  readonly clock: Clock;
  /** Cryptographically secure. */
  readonly random: RandomBytes;
  readonly newId: NewId;
  /** The folder that the page was built into; it need not be there. */
  readonly pageFolder: string;
  /** The folder that the manual was built into; it need not be there. */
  readonly manualFolder: string;
  readonly runSelfTest: RunSelfTest;
  /** @see OperatorPassword */
  readonly costLog2?: number;
}

export class Dashboard {
  readonly password: OperatorPassword;
  readonly sessions: OperatorSessions;
  readonly keys: SessionKeys;
  readonly guard: LoginGuard;
  readonly link: SetupLink;
  readonly files: PageFiles;
  readonly manual: ManualFiles;
  readonly tickets: PhoneTickets;
  readonly selfTest: SelfTestRun;

  constructor(options: DashboardOptions) {
    const password = new OperatorPassword(options);
    const sessions = new OperatorSessions({ ...options, passwordRecord: () => password.record() });
    const isSessionAlive = (hash: string) => sessions.isAlive(hash);
    this.password = password;
    this.sessions = sessions;
    this.keys = new SessionKeys({ ...options, isSessionAlive });
    this.guard = new LoginGuard(options.clock);
    this.link = new SetupLink(options);
    this.files = new PageFiles(options.pageFolder);
    this.manual = new ManualFiles(options.manualFolder);
    this.tickets = new PhoneTickets(options);
    this.selfTest = new SelfTestRun({ run: options.runSelfTest, clock: options.clock });
  }

  /** The token of a new link that sets the password; undefined where there is a password already. */
  async issueSetupToken(): Promise<string | undefined> {
    return (await this.password.record()) === undefined ? this.link.issue() : undefined;
  }
}
