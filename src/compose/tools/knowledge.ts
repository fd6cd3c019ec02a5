/** Composition root: search of agents' documents, their embeddings, and the processes that read files. */
import { type Config, databaseFileOf } from '../../config/config.ts';
import type { Agent } from '../../domain/agent/agent.ts';
import type { ReadinessCheck } from '../../domain/call/engine-state.ts';
import type { DocumentReader, PassageSearch } from '../../domain/knowledge/knowledge.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Metrics } from '../../lib/metrics/metrics.ts';
import { EmbeddingServer } from '../../llm/embeddings/embedding-server.ts';
import { OnnxEmbedder } from '../../llm/embeddings/onnx/onnx-embedder.ts';
import { KnowledgeSearch } from '../../store/knowledge/knowledge-search.ts';
import type { Store } from '../../store/store.ts';
import { AgentSearch } from '../../tool/knowledge/agent-search.ts';
import { DocumentReaders } from '../../tool/knowledge/document-readers.ts';
import { PassageEmbedder } from '../../tool/knowledge/passage-embedder.ts';

/** Small, of a hundred languages, and free (MIT). */
const ONNX_MODEL_DEFAULT = 'multilingual-e5-small';

/** Agents' documents. */
export interface Knowledge {
  /** The search of the agent's documents; undefined where it has none. */
  of(agent: Agent): Promise<PassageSearch | undefined>;
  readonly documentReader: DocumentReader;
  /** How the embedding model does; undefined where none is set. Documents are found by their words without it. */
  check(): ReadinessCheck | undefined;
  /** Begins to compute vectors where an embedding model is set. To be called once. */
  start(): void;
  /** Ends thread, process and requests. Safe to call twice. */
  stop(): Promise<void>;
}

/** The search thread starts with the first call of an agent that has documents. */
export function openKnowledge(from: {
  readonly config: Config;
  readonly store: Pick<Store, 'knowledge'>;
  readonly metrics: Pick<Metrics, 'knowledge'>;
  readonly log: Logger;
}): Knowledge {
  const { config, log, metrics, store } = from;
  const shared = { clock: systemClock, log };
  const index = new KnowledgeSearch({ file: databaseFileOf(config), ...shared });
  const readers = new DocumentReaders({ clock: systemClock });
  const embedder = embedderOf(config, log);
  const embeddings =
    embedder && new PassageEmbedder({ ...shared, store: store.knowledge, embedder });
  const search = { ...shared, index, embedder, counts: metrics.knowledge };
  return {
    documentReader: readers,
    of: async (agent) => {
      const { total } = await store.knowledge.list(agent, agent.id, { limit: 1, offset: 0 });
      if (total === 0) return undefined;
      index.prepare();
      return new AgentSearch({ ...search, agentId: agent.id, language: agent.language });
    },
    check: () => embeddings && { name: 'knowledge embeddings', isOk: true, ...embeddings.report() },
    start: () => embeddings?.start(),
    stop: async () => {
      readers.stop();
      await Promise.all([index.stop(), embeddings?.stop()]);
      if (embedder instanceof OnnxEmbedder) await embedder.stop();
    },
  };
}

/** Undefined where none is set. */
function embedderOf(config: Config, log: Logger): OnnxEmbedder | EmbeddingServer | undefined {
  const { KNOWLEDGE_EMBEDDINGS: protocol, KNOWLEDGE_EMBEDDINGS_MODEL: model } = config;
  if (protocol === 'onnx') {
    const { MODELS_DIR: modelsDir } = config;
    return new OnnxEmbedder({
      ...{ modelsDir, model: model ?? ONNX_MODEL_DEFAULT, clock: systemClock, log },
    });
  }
  if (protocol === 'off' || model === undefined) return undefined;
  const { KNOWLEDGE_EMBEDDINGS_URL: url = config.OLLAMA_HOST } = config;
  return new EmbeddingServer({ protocol, url, model, apiKey: config.KNOWLEDGE_EMBEDDINGS_API_KEY });
}
