/** Asks a costly question now and then, however often somebody wants to know. */
import type { Clock } from './clock.ts';

/**
 * Gives the same answer for `keptMs` after it was found. What `ask` throws is not kept.
 *
 * @returns asks, or gives what was answered.
 */
export function cached<Answer>(
  ask: () => Answer,
  { keptMs, clock }: { readonly keptMs: number; readonly clock: Clock },
): () => Answer {
  let last: { readonly answer: Answer; readonly atMs: number } | undefined;
  return () => {
    const nowMs = clock.nowMs();
    if (last === undefined || nowMs - last.atMs >= keptMs) last = { answer: ask(), atMs: nowMs };
    return last.answer;
  };
}
