/** Tells those who watch of calls as they are written. */
import type { Scope } from '../../domain/agent/agent.ts';
import type { Call, TimelineEntry, TranscriptEntry } from '../../domain/call/call.ts';
import type { LiveFeed, LiveHappening, LiveWatcher } from '../../domain/call/live-sound.ts';

interface Watch {
  readonly scope: Scope;
  readonly watcher: LiveWatcher;
}

/** The store of calls says what it has written; nothing is read while nobody watches. Never throws: the record counts. */
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

  sizeOf(scope: Scope): number {
    return [...this.#watches].filter((watch) => isSame(watch.scope, scope)).length;
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
    for (const watch of watches) this.#letGo(watch);
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
      const call = this.#read(callId);
      if (call !== undefined) this.#tell(call, { kind: 'call', call });
    }
  }

  #tellOf(callId: string, happening: LiveHappening): void {
    if (this.#watches.size === 0) return;
    const call = this.#read(callId);
    if (call !== undefined) this.#tell(call, happening);
  }

  /** A disk that fails is told by whoever writes to it; here it means that there is nothing to tell. */
  #read(callId: string): Call | undefined {
    try {
      return this.#find(callId);
    } catch {
      return undefined;
    }
  }

  #tell(call: Call, happening: LiveHappening): void {
    for (const watch of this.#watches) {
      const { scope, watcher } = watch;
      if (!isSame(scope, call)) continue;
      try {
        watcher.onHappening(happening);
      } catch {
        // The calls, and the others who watch, go on.
        this.#letGo(watch);
      }
    }
  }

  #letGo(watch: Watch): void {
    this.#watches.delete(watch);
    try {
      watch.watcher.onClosed();
    } catch {
      // It is told nothing more, which is all that it needed to know.
    }
  }
}

function isSame(one: Scope, other: Scope): boolean {
  return one.accountId === other.accountId && one.environment === other.environment;
}
