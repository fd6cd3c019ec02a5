/** Announcements of stores: notifiers of committed changes, and the live feed, which passes changes of calls to watchers. */

import { isSameScope, type Scope } from '../domain/agent/agent.ts';
import type { Call, TimelineEntry, TranscriptEntry } from '../domain/call/call.ts';
import type { LiveCallEvent, LiveFeed, LiveWatcher } from '../domain/call/live-sound.ts';
import { Notifier } from '../lib/clock.ts';

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
  /** Data was erased, or marked for erasure. */
  readonly erasures: Notifier;
  readonly live: LiveWatchers;
}

/** Feeds without listeners. */
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

interface Watch {
  readonly scope: Scope;
  readonly watcher: LiveWatcher;
}

/** The call store reports each write; no call is read while there are no watchers. Never throws: the record comes first. */
export class LiveWatchers implements LiveFeed {
  readonly #watches = new Set<Watch>();
  #find: (callId: string) => Promise<Call | undefined> = async () => undefined;
  #passed: Promise<void> = Promise.resolve();
  #isClosed = false;

  /** Called by the call store: reads one call. */
  connect(find: (callId: string) => Promise<Call | undefined>): void {
    this.#find = find;
  }

  get size(): number {
    return this.#watches.size;
  }

  sizeOf(scope: Scope): number {
    return [...this.#watches].filter((watch) => isSameScope(watch.scope, scope)).length;
  }

  watch(scope: Scope, watcher: LiveWatcher): () => void {
    const watch = { scope, watcher };
    if (this.#isClosed) watcher.onClosed();
    else this.#watches.add(watch);
    return () => this.#watches.delete(watch);
  }

  close(): void {
    this.#isClosed = true;
    const watches = [...this.#watches];
    this.#watches.clear();
    for (const watch of watches) this.#remove(watch);
  }

  /** A call was written. */
  changed(callId: string): void {
    this.#passOf(callId, (call) => ({ kind: 'call', call }));
  }

  said(callId: string, entry: TranscriptEntry): void {
    this.#passOf(callId, () => ({ kind: 'said', callId, entry }));
  }

  happened(callId: string, entry: TimelineEntry): void {
    this.#passOf(callId, () => ({ kind: 'timeline', callId, entry }));
  }

  hearing(callId: string, text: string): void {
    this.#passOf(callId, () => ({ kind: 'hearing', callId, text }));
  }

  /** Events are passed on one after the other, in the order of the writes. */
  #passOf(callId: string, eventOf: (call: Call) => LiveCallEvent): void {
    if (this.#watches.size === 0) return;
    this.#passed = this.#passed.then(async () => {
      const call = await this.#read(callId);
      if (call !== undefined) this.#pass(call, eventOf(call));
    });
  }

  /** Undefined when the disk fails: the writers report that, and the call is skipped here. */
  async #read(callId: string): Promise<Call | undefined> {
    try {
      return await this.#find(callId);
    } catch {
      return undefined;
    }
  }

  #pass(call: Call, event: LiveCallEvent): void {
    for (const watch of this.#watches) {
      const { scope, watcher } = watch;
      if (!isSameScope(scope, call)) continue;
      try {
        watcher.onEvent(event);
      } catch {
        // Calls and other watchers go on.
        this.#remove(watch);
      }
    }
  }

  #remove(watch: Watch): void {
    this.#watches.delete(watch);
    try {
      watch.watcher.onClosed();
    } catch {
      // The watcher is removed already.
    }
  }
}
