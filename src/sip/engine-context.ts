/** What the parts of a user agent share. */
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { EngineStats } from './engine-stats.ts';
import type { SessionTimerOptions } from './message/session-expires.ts';
import type { Tokens } from './message/tokens.ts';
import type { RequestSender } from './request-sender.ts';
import type { BaseTimers } from './transaction/timers.ts';

export interface EngineContext {
  readonly clock: Clock;
  readonly timers: BaseTimers;
  readonly tokens: Tokens;
  readonly stats: EngineStats;
  readonly logger: Logger;
  readonly sender: RequestSender;
  /** Value of User-Agent and Server. */
  readonly product: string | undefined;
  readonly sessionTimer: SessionTimerOptions | undefined;
}
