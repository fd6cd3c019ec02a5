/** Looks up passages of the agent's documents for the caller's words, within a time limit. */
import type { FoundPassage, PassageSearch } from '../domain/knowledge/knowledge.ts';
import { type Clock, OverdueError, within } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { KnowledgeCounts } from '../lib/metrics/model-metrics.ts';
import { messageOf } from '../lib/unknown-value.ts';
import type { ChatMessage } from '../llm/language-model.ts';
import { questionIn } from './history/prompt.ts';

/** The caller does not wait longer: then the model answers without passages. */
export const LOOKUP_MS_MAX = 50;

const NOTHING: readonly FoundPassage[] = [];

interface Parts {
  readonly search: PassageSearch;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counts: KnowledgeCounts;
}

/** Look-ups of one conversation. Further requests of a turn, such as those after a tool, get the passages of its first one. */
export class KnowledgeLookup {
  readonly #parts: Parts;
  #question = '';
  #found: Promise<readonly FoundPassage[]> = Promise.resolve(NOTHING);

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Finds passages for the caller's last words, best first; none if that fails or takes too long. Never rejects. */
  async passagesFor(messages: readonly ChatMessage[]): Promise<readonly FoundPassage[]> {
    const { search, clock, counts, log } = this.#parts;
    const question = questionIn(messages);
    if (question === '') return NOTHING;
    const startMs = clock.nowMs();
    try {
      if (question !== this.#question) {
        this.#question = question;
        this.#found = search.find(question, LOOKUP_MS_MAX);
      }
      const passages = await within(clock, LOOKUP_MS_MAX, this.#found);
      counts.lookedUp(passages.length > 0 ? 'found' : 'none', clock.nowMs() - startMs);
      return passages;
    } catch (error) {
      const isLate = error instanceof OverdueError;
      counts.lookedUp(isLate ? 'late' : 'failed', clock.nowMs() - startMs);
      // The message of a search names no words of the caller.
      log.warn({ reason: messageOf(error) }, 'knowledge: the model answers without the documents');
      return NOTHING;
    }
  }
}
