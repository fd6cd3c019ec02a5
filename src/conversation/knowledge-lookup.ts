/** Looks passages of the agent's documents up for what the caller said, within a limit of time. */
import type { FoundPassage } from '../domain/knowledge/knowledge.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';

/** Finds passages, best first. */
export interface Knowledge {
  find(question: string): Promise<readonly FoundPassage[]>;
}

/** The caller does not wait longer for it: then the model answers without. */
export const LOOKUP_MS_MAX = 50;

const NOTHING: readonly FoundPassage[] = [];

/** Never rejects. @returns nothing where it takes too long, or fails. */
export async function lookUp(
  knowledge: Knowledge,
  question: string,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Promise<readonly FoundPassage[]> {
  const { promise: late, resolve } = Promise.withResolvers<readonly FoundPassage[]>();
  const cancel = clock.after(LOOKUP_MS_MAX, () => resolve(NOTHING));
  try {
    return await Promise.race([knowledge.find(question), late]);
  } catch (error) {
    log.warn({ err: error }, 'documents of the agent could not be searched');
    return NOTHING;
  } finally {
    cancel();
  }
}
