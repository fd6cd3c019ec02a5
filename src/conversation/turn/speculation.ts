/** Counts what became of answers that were begun before the caller's turn was over; pure */
import { act, change, type Draft } from './turn-state.ts';

/** Counts one, and tells. */
export function countSpeculation(draft: Draft, outcome: 'hit' | 'miss'): void {
  const { aheadHits, aheadMisses } = draft.state;
  change(
    draft,
    outcome === 'hit' ? { aheadHits: aheadHits + 1 } : { aheadMisses: aheadMisses + 1 },
  );
  act(draft, { kind: 'emit', event: { kind: 'speculation', outcome } });
}
