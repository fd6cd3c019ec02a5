/** Documents of agents for tests. */
import type { KnowledgeDocument, KnowledgeDraft } from '../../../src/domain/knowledge/knowledge.ts';
import { passagesOf } from '../../../src/domain/knowledge/passages.ts';
import type { Store } from '../../../src/store/store.ts';

const DRAFT: KnowledgeDraft = {
  accountId: 'acct_1',
  environment: 'live',
  agentId: 'agent_1',
  id: 'doc_1',
  name: 'Opening hours',
  mediaType: 'text/markdown',
  now: new Date(0),
};

/** Saves a document of `agent_1`, unless the fields say otherwise. */
export function saveKnowledge(
  store: Store,
  text: string,
  fields: Partial<KnowledgeDraft> = {},
): Promise<KnowledgeDocument> {
  return store.knowledge.save({ ...DRAFT, ...fields }, { text, passages: passagesOf(text) });
}
