/** Tells those who watch of calls as they are written. */
import type { Scope } from '../domain/agent.ts';
import type { Call, TimelineEntry, TranscriptEntry } from '../domain/call.ts';
import type { LiveFeed, LiveHappening, LiveWatcher } from '../domain/live-feed.ts';

interface Watch {
  readonly scope: Scope;
  readonly watcher: LiveWatcher;
}

/** The store of calls says what it has written; nothing is read while nobody watches. */
export class LiveWatchers implements LiveFeed {
  readonly #watches = new Set<Watch>();
  readonly #changed = new Set<string>();
  #find: (callId: string) => Call | undefined = () => undefined;
  #isClosed = false;

  /** For the store of calls: how to read one. */
  connect(find: (callId: string) => Call | undefined): void {
    this.#find = find;
  }

  get size(): number {
    return this.#watches.size;
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
    for (const { watcher } of watches) watcher.onClosed();
  }

  /** A call was written. Told when the code that runs now is done: a transaction around it may still be taken back. */
  changed(callId: string): void {
    if (this.#watches.size === 0) return;
    if (this.#changed.size === 0) queueMicrotask(() => this.#tellChanged());
    this.#changed.add(callId);
  }

  said(callId: string, entry: TranscriptEntry): void {
    this.#tellOf(callId, { kind: 'said', callId, entry });
  }

  happened(callId: string, entry: TimelineEntry): void {
    this.#tellOf(callId, { kind: 'timeline', callId, entry });
  }

  hearing(callId: string, text: string): void {
    this.#tellOf(callId, { kind: 'hearing', callId, text });
  }

  #tellChanged(): void {
    const callIds = [...this.#changed];
    this.#changed.clear();
    for (const callId of callIds) {
      const call = this.#find(callId);
      if (call !== undefined) this.#tell(call, { kind: 'call', call });
    }
  }

  #tellOf(callId: string, happening: LiveHappening): void {
    if (this.#watches.size === 0) return;
    const call = this.#find(callId);
    if (call !== undefined) this.#tell(call, happening);
  }

  #tell({ accountId, environment }: Call, happening: LiveHappening): void {
    for (const { scope, watcher } of this.#watches) {
      const isTheirs = scope.accountId === accountId && scope.environment === environment;
      if (isTheirs) watcher.onHappening(happening);
    }
  }
}
