/** Computes vectors of passages in the background: for new documents, and for all documents after a change of the model. */
import type { KnowledgeStore, UnreadPassage } from '../../domain/knowledge/knowledge.ts';
import { type Clock, TimeLimit } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { Repeater } from '../../lib/repeater.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import type { Embedder } from '../../llm/embeddings/embedder.ts';

/** Passages of one request. */
const BATCH = 16;

/** Enough for a large model on a slow machine: no call waits for it. */
const BATCH_MS_MAX = 60_000;

/** Interval between two looks for new passages. */
const LOOK_MS = 5000;

/** Wait after a failure of the server. */
const RETRY_MS = 30_000;

/** How the embedding model does, for `/readyz`. */
export interface EmbeddingState {
  /** In plain English. */
  readonly state: string;
}

interface Options {
  readonly store: Pick<KnowledgeStore, 'withoutVector' | 'saveVectors'>;
  readonly embedder: Embedder;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Looks for passages without a vector. To be started once. */
export class PassageEmbedder {
  readonly #options: Options;
  readonly #rounds: Repeater;
  readonly #end = new AbortController();
  #problem: string | undefined;
  #hasAsked = false;

  constructor(options: Options) {
    this.#options = options;
    this.#rounds = new Repeater({ clock: options.clock, run: () => this.#round() });
  }

  start(): void {
    this.#rounds.ask();
  }

  /** Ends the request in progress. Safe to call twice. */
  async stop(): Promise<void> {
    this.#end.abort(new Error('the server stops'));
    await this.#rounds.stop();
  }

  report(): EmbeddingState {
    const { name, problem } = this.#options.embedder;
    const found = this.#problem ?? problem;
    if (found !== undefined) {
      return { state: `${found}; documents are searched by their words alone` };
    }
    return { state: this.#hasAsked ? `${name} answers` : `${name} has not been asked yet` };
  }

  /** @returns milliseconds until the next one. */
  async #round(): Promise<number> {
    const { store, embedder, log } = this.#options;
    try {
      const passages = await store.withoutVector(embedder.name, BATCH);
      if (passages.length === 0 && this.#hasAsked) return LOOK_MS;
      await this.#embed(passages);
      if (this.#problem !== undefined) log.info({}, 'knowledge: the embedding model answers again');
      this.#problem = undefined;
      this.#hasAsked = true;
      return passages.length < BATCH ? LOOK_MS : 0;
    } catch (error) {
      if (this.#end.signal.aborted) return RETRY_MS;
      const reason = messageOf(error);
      if (this.#problem === undefined) log.warn({ reason }, 'knowledge: no vectors for now');
      this.#problem = reason;
      return RETRY_MS;
    }
  }

  /** Embeds passages. Without any, the model is tried with a word, so that the start says whether it answers. */
  async #embed(passages: readonly UnreadPassage[]): Promise<void> {
    const { store, embedder, clock } = this.#options;
    const { signal: ended } = this.#end;
    const reason = 'the embedding model takes too long';
    using limit = new TimeLimit(clock, BATCH_MS_MAX, { signal: ended, reason });
    const texts = passages.map(({ heading, text }) =>
      heading === '' ? text : `${heading}\n${text}`,
    );
    const options = { role: 'passage', signal: limit.signal } as const;
    const vectors = await embedder.embed(texts.length === 0 ? ['Hello.'] : texts, options);
    const found = passages.flatMap(({ id }, index) => {
      const vector = vectors[index];
      return vector === undefined ? [] : [{ id, vector }];
    });
    if (found.length > 0) await store.saveVectors(embedder.name, found);
  }
}
