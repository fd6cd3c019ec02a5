/** What is told of calls while they go on: for whoever looks at them now, and never instead of the record. */
import type { Scope } from '../agent/agent.ts';
import type { Call, TimelineEntry, TranscriptEntry } from './call.ts';

export type LiveHappening =
  /** A call is there, or has changed; `call` is the record as it is kept now. */
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'said'; readonly callId: string; readonly entry: TranscriptEntry }
  | { readonly kind: 'timeline'; readonly callId: string; readonly entry: TimelineEntry }
  /** What the caller seems to be saying; the next one of the call replaces it; `said`, or an empty text, ends it. Not kept. */
  | { readonly kind: 'hearing'; readonly callId: string; readonly text: string };

export interface LiveWatcher {
  /** Called after the record was written, in order for each call. Must be quick and must not throw. */
  onHappening(happening: LiveHappening): void;
  /** No more will be told: the server stops. */
  onClosed(): void;
}

export interface LiveFeed {
  /** Tells of the calls of one account and environment from now on. @returns stops it; safe to call twice. */
  watch(scope: Scope, watcher: LiveWatcher): () => void;

  /** How many watch now. */
  readonly size: number;

  /** How many of them watch the calls of one account and environment. */
  sizeOf(scope: Scope): number;

  /** Passes on what a caller seems to be saying. Costs nothing while nobody watches. */
  hearing(callId: string, text: string): void;

  /** Ends every watch. Safe to call twice. */
  close(): void;
}
