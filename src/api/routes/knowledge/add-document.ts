/** Adds a document to an agent, from JSON or from a file. */
import type { KnowledgeDraft } from '../../../domain/knowledge/knowledge.ts';
import { contentOf } from '../../../domain/knowledge/knowledge-content.ts';
import { type ApiContext, type ApiDeps, scopeOf } from '../../api-env.ts';
import { answerOnce } from '../../http/answer-once.ts';
import { existing } from '../../http/errors.ts';
import { knowledgeDocumentSchema } from '../../schemas/knowledge-schemas.ts';
import { viewOf } from '../../serializers/view-of.ts';

/** A document whose text may have to be read first. */
interface UnreadDocument extends Pick<KnowledgeDraft, 'agentId' | 'name' | 'mediaType'> {
  readonly readText: () => Promise<string>;
}

/**
 * Saves the document, or the next version of it, once for each idempotency key.
 *
 * @throws {ServiceError} AGENT_NOT_FOUND; UNPROCESSABLE when it cannot be used; CONFLICT when the agent has too much.
 */
export async function addDocument(
  context: ApiContext,
  deps: ApiDeps,
  { agentId, name, mediaType, readText }: UnreadDocument,
) {
  const { agents, clock, newId } = deps;
  const scope = scopeOf(context);
  return answerOnce(context, deps, {
    work: async (commit) => {
      existing(await agents.find(scope, agentId), 'agent');
      const content = contentOf(await readText());
      const draft = { ...scope, id: newId('doc'), agentId, name, mediaType, now: clock.now() };
      return commit(async (stores) => {
        // The agent may have been deleted while the text was read.
        existing(await stores.agents.find(scope, agentId), 'agent');
        const document = await stores.knowledge.save(draft, content);
        return { status: 201, body: viewOf(knowledgeDocumentSchema, document) };
      });
    },
  });
}
