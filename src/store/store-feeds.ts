/** What stores announce: notifiers of committed changes, and the live feed. */
import { Notifier } from '../lib/clock.ts';
import { LiveWatchers } from './calls/live-watchers.ts';

/** Shared by the stores of one server, those of open transactions included. */
export interface StoreFeeds {
  /** A call was saved as `queued`. */
  readonly queue: Notifier;
  /** A campaign was made or changed. */
  readonly campaigns: Notifier;
  /** Events were written, or deliveries made due. */
  readonly events: Notifier;
  /** A call that was answered has ended. */
  readonly analyses: Notifier;
  /** Something was erased, or noted for it. */
  readonly erasures: Notifier;
  readonly live: LiveWatchers;
}

export function newStoreFeeds(): StoreFeeds {
  return {
    queue: new Notifier(),
    campaigns: new Notifier(),
    events: new Notifier(),
    analyses: new Notifier(),
    erasures: new Notifier(),
    live: new LiveWatchers(),
  };
}
