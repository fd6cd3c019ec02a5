/** Composition root: the search of agents' documents. */
import { type Config, databaseFileOf } from '../../config/config.ts';
import type { Agent } from '../../domain/agent/agent.ts';
import type { DocumentReader, PassageSearch } from '../../domain/knowledge/knowledge.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { KnowledgeSearch } from '../../store/knowledge/knowledge-search.ts';
import type { Store } from '../../store/store.ts';
import { DocumentReaders } from '../../tool/knowledge/document-readers.ts';

/** Passages that a question is answered with, if they fit into the prompt. */
const PASSAGES_MAX = 5;

/** The search of agents' documents. */
export interface Knowledge {
  /** Undefined where the agent has no documents. */
  of(agent: Agent): Promise<PassageSearch | undefined>;
  readonly documentReader: DocumentReader;
  /** Ends the search thread, and the process that reads a document. Safe to call twice. */
  stop(): Promise<void>;
}

/** The search thread starts with the first call of an agent that has documents. */
export function openKnowledge(from: {
  readonly config: Config;
  readonly store: Pick<Store, 'knowledge'>;
  readonly log: Logger;
}): Knowledge {
  const { config, log, store } = from;
  const search = new KnowledgeSearch({ file: databaseFileOf(config), clock: systemClock, log });
  const readers = new DocumentReaders({ clock: systemClock });
  return {
    of: async (agent) => {
      const { total } = await store.knowledge.list(agent, agent.id, { limit: 1, offset: 0 });
      if (total === 0) return undefined;
      search.prepare();
      return { find: (question) => search.find(agent.id, question, PASSAGES_MAX) };
    },
    documentReader: readers,
    stop: () => {
      readers.stop();
      return search.stop();
    },
  };
}
