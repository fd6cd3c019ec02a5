/** Searches the documents of one agent: by words and, where an embedding model is set, by meaning. */
import type { FoundPassage, PassageSearch } from '../../domain/knowledge/knowledge.ts';
import { tellingWords } from '../../domain/knowledge/passages.ts';
import { type Clock, TimeLimit, unlessAborted } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { EmbeddingResult } from '../../lib/metrics/model-metrics.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import type { Embedder } from '../../llm/embeddings/embedder.ts';

/** Passages that a question is answered with, if they fit into the prompt. */
const PASSAGES_MAX = 5;

/** Passages of each list that are joined. */
const CANDIDATES = 20;

/** Part of the limit that is kept for joining the lists and the way back. */
const RESERVE_MS = 8;

/** A passage with its row, by which two lists know it. */
interface Hit extends FoundPassage {
  readonly id: number;
}

/** The index of all agents' documents. */
interface PassageIndex {
  find(agentId: string, question: string, limit: number): Promise<readonly Hit[]>;
  nearest(
    agentId: string,
    question: { readonly model: string; readonly vector: Float32Array },
    limit: number,
  ): Promise<readonly Hit[]>;
}

interface Options {
  readonly agentId: string;
  /** BCP 47; of the questions. */
  readonly language: string;
  readonly index: PassageIndex;
  /** Undefined where none is set. */
  readonly embedder: Embedder | undefined;
  readonly counts: { embedded(result: EmbeddingResult): void };
  readonly clock: Clock;
  readonly log: Logger;
}

/** Joins the results of keyword and vector search; keyword results alone when the model is late or fails. */
export class AgentSearch implements PassageSearch {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async find(question: string, limitMs: number): Promise<readonly FoundPassage[]> {
    const { agentId, language, index, embedder } = this.#options;
    const byMeaning = embedder && this.#near(embedder, question, limitMs - RESERVE_MS);
    const words = tellingWords(question, language).join(' ');
    const byWords = await index.find(agentId, words, CANDIDATES);
    const lists = byMeaning === undefined ? [byWords] : [byWords, await byMeaning];
    return fusedRanks(lists, ({ id }) => id).slice(0, PASSAGES_MAX);
  }

  /** Never rejects. */
  async #near(embedder: Embedder, question: string, limitMs: number): Promise<readonly Hit[]> {
    const { clock, counts, log } = this.#options;
    using limit = new TimeLimit(clock, limitMs, { reason: 'the embedding model is too slow' });
    try {
      const hits = await unlessAborted(this.#nearest(embedder, question, limit), limit.signal);
      counts.embedded('used');
      return hits;
    } catch (error) {
      counts.embedded(limit.isOver ? 'late' : 'failed');
      log.debug({ reason: messageOf(error) }, 'knowledge: searched by words alone');
      return [];
    }
  }

  async #nearest(
    embedder: Embedder,
    question: string,
    { signal }: TimeLimit,
  ): Promise<readonly Hit[]> {
    const { agentId, index } = this.#options;
    const [vector] = await embedder.embed([question], { role: 'query', signal });
    if (vector === undefined) return [];
    return index.nearest(agentId, { model: embedder.name, vector }, CANDIDATES);
  }
}

/** Dampens the first ranks: with less, the first item of one list would beat items that are in both. */
const RANK_OFFSET = 60;

/**
 * Joins lists, best first: each item scores `1 / (60 + rank)` for every list that has it.
 *
 * @param keyOf identity of an item.
 * @see Cormack, Clarke, Büttcher: Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods, SIGIR 2009
 */
export function fusedRanks<Item>(
  lists: readonly (readonly Item[])[],
  keyOf: (item: Item) => number,
): readonly Item[] {
  const scores = new Map<number, { readonly item: Item; readonly score: number }>();
  for (const list of lists) {
    for (const [index, item] of list.entries()) {
      const key = keyOf(item);
      const before = scores.get(key);
      const score = (before?.score ?? 0) + 1 / (RANK_OFFSET + index + 1);
      scores.set(key, { item: before?.item ?? item, score });
    }
  }
  const sorted = [...scores.values()].sort((one, other) => other.score - one.score);
  return sorted.map(({ item }) => item);
}
