/** Documents of agents in SQLite; triggers keep the full text index of their passages. */

import { sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type { Page, PageRange } from '../../domain/ids.ts';
import {
  KNOWLEDGE_LIMITS,
  type KnowledgeDocument,
  type KnowledgeDraft,
  type KnowledgeStore,
  type KnowledgeText,
  type KnowledgeVersion,
  type UnreadPassage,
} from '../../domain/knowledge/knowledge.ts';
import type { Passage } from '../../domain/knowledge/passages.ts';
import { conflict } from '../../domain/service-error.ts';
import { allOf, firstOf, inScope, pageOf, type Queries, SqliteStore } from '../queries.ts';
import { recordOf, rowOf } from '../sqlite/rows.ts';
import { build } from '../sqlite/schema.ts';

/** The text of a version, and its passages. */
interface Content {
  readonly text: string;
  readonly passages: readonly Passage[];
}

/** Keeps documents in SQLite. */
export class SqliteKnowledgeStore extends SqliteStore implements KnowledgeStore {
  save(draft: KnowledgeDraft, content: Content): Promise<KnowledgeDocument> {
    return this.database.transaction(async (transaction) => {
      const named = documentsOf(draft, draft.agentId).where('name', '=', draft.name);
      const before = await firstOf(transaction, named.selectAll(), recordOf<KnowledgeDocument>);
      if (before !== undefined && (await isSame(transaction, before, draft, content.text))) {
        return before;
      }
      await requireRoom(transaction, draft, content);
      const document = nextVersion(before, draft, content);
      if (before === undefined) {
        await transaction.run(build.insertInto('knowledge_documents').values(rowOf(document)));
      } else {
        await replaceDocument(transaction, document);
      }
      await addVersion(transaction, document, content.text);
      await addPassages(transaction, document, content.passages);
      return document;
    });
  }

  async delete(scope: Scope, agentId: string, documentId: string): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      const found = documentsOf(scope, agentId).select('id').where('id', '=', documentId);
      if ((await transaction.get(found)) === undefined) return false;
      await transaction.run(build.deleteFrom('knowledge_documents').where('id', '=', documentId));
      return true;
    });
  }

  async find(
    scope: Scope,
    { agentId, documentId }: { readonly agentId: string; readonly documentId: string },
    version?: number,
  ): Promise<KnowledgeText | undefined> {
    return this.database.transaction(async (transaction) => {
      const named = documentsOf(scope, agentId).selectAll().where('id', '=', documentId);
      const document = await firstOf(transaction, named, recordOf<KnowledgeDocument>);
      if (document === undefined) return undefined;
      const wanted = versionsOf(documentId).where('version', '=', version ?? document.version);
      const content = await transaction.get(wanted.select('text'));
      if (content === undefined) return undefined;
      const newestFirst = versionsOf(documentId)
        .select(['version', 'media_type', 'chars', 'created_at'])
        .orderBy('version', 'desc');
      const versions = await allOf(transaction, newestFirst, recordOf<KnowledgeVersion>);
      return { document, versions, text: content.text };
    });
  }

  async withoutVector(model: string, limit: number): Promise<readonly UnreadPassage[]> {
    return this.database.all(
      build
        .selectFrom('knowledge_passages as p')
        .leftJoin('knowledge_vectors as v', (join) =>
          join.onRef('v.passage_id', '=', 'p.id').on('v.model', '=', model),
        )
        .select(['p.id', 'p.heading', 'p.text'])
        .where('v.passage_id', 'is', null)
        .orderBy('p.id')
        .limit(limit),
    );
  }

  async saveVectors(
    model: string,
    vectors: readonly { readonly id: number; readonly vector: Float32Array }[],
  ): Promise<void> {
    await this.database.transaction(async (transaction) => {
      for (const { id, vector } of vectors) {
        const passage = build.selectFrom('knowledge_passages').select('id').where('id', '=', id);
        if ((await transaction.get(passage)) === undefined) continue;
        // A vector may be a view of more than itself.
        const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
        const row = { passage_id: id, model, vector: bytes };
        await transaction.run(build.replaceInto('knowledge_vectors').values(row));
      }
    });
  }

  list(scope: Scope, agentId: string, range: PageRange): Promise<Page<KnowledgeDocument>> {
    const every = documentsOf(scope, agentId);
    const sorted = every.selectAll().orderBy('name');
    return pageOf(this.database, { every, sorted, range }, recordOf<KnowledgeDocument>);
  }
}

function nextVersion(
  before: KnowledgeDocument | undefined,
  { now, ...draft }: KnowledgeDraft,
  { text, passages }: Content,
): KnowledgeDocument {
  const facts = { chars: text.length, passages: passages.length, updatedAt: now };
  if (before === undefined) return { ...draft, ...facts, version: 1, createdAt: now };
  return { ...before, ...facts, mediaType: draft.mediaType, version: before.version + 1 };
}

async function isSame(
  database: Queries,
  before: KnowledgeDocument,
  draft: KnowledgeDraft,
  text: string,
): Promise<boolean> {
  if (before.mediaType !== draft.mediaType || before.chars !== text.length) return false;
  const newest = versionsOf(before.id).select('text').where('version', '=', before.version);
  return (await database.get(newest))?.text === text;
}

/** @throws {ServiceError} CONFLICT when the agent would have more than it may. */
async function requireRoom(
  database: Queries,
  draft: KnowledgeDraft,
  { text, passages }: Content,
): Promise<void> {
  const others = documentsOf(draft, draft.agentId).where('name', '<>', draft.name);
  const sums = await database.get(
    others.select(({ fn }) => [
      fn.countAll<number>().as('documents'),
      fn.coalesce(fn.sum<number>('chars'), sql.lit(0)).as('chars'),
      fn.coalesce(fn.sum<number>('passages'), sql.lit(0)).as('passages'),
    ]),
  );
  const { documents = 0, chars = 0, passages: found = 0 } = sums ?? {};
  const { agentDocumentsMax, agentCharsMax, agentPassagesMax } = KNOWLEDGE_LIMITS;
  refuseBeyond(agentDocumentsMax, documents + 1, 'documents');
  refuseBeyond(agentCharsMax, chars + text.length, 'characters of text');
  refuseBeyond(agentPassagesMax, found + passages.length, 'passages');
}

function refuseBeyond(max: number, count: number, what: string): void {
  if (count <= max) return;
  throw conflict(
    `Cannot add the document: the agent would have ${count} ${what}, and ${max} is the most; delete another document first`,
  );
}

/** The passages of the version before are found no more. */
async function replaceDocument(database: Queries, document: KnowledgeDocument): Promise<void> {
  const { id } = document;
  await database.run(build.deleteFrom('knowledge_passages').where('document_id', '=', id));
  const changed = build.updateTable('knowledge_documents').set(rowOf(document));
  await database.run(changed.where('id', '=', id));
}

/** Adds the version, and drops those beyond `KNOWLEDGE_LIMITS.versionsKept`. */
async function addVersion(
  database: Queries,
  { id, version, mediaType, chars, updatedAt }: KnowledgeDocument,
  text: string,
): Promise<void> {
  const facts = { documentId: id, version, mediaType, chars, text, createdAt: updatedAt };
  await database.run(build.insertInto('knowledge_versions').values(rowOf(facts)));
  await database.run(
    build
      .deleteFrom('knowledge_versions')
      .where('document_id', '=', id)
      .where('version', '<=', version - KNOWLEDGE_LIMITS.versionsKept),
  );
}

async function addPassages(
  database: Queries,
  { agentId, id }: KnowledgeDocument,
  passages: readonly Passage[],
): Promise<void> {
  for (const [index, { heading, text }] of passages.entries()) {
    const place = { document_id: id, agent_id: agentId, number: index + 1 };
    await database.run(build.insertInto('knowledge_passages').values({ ...place, heading, text }));
  }
}

function documentsOf(scope: Scope, agentId: string) {
  return build
    .selectFrom('knowledge_documents')
    .where(inScope(scope))
    .where('agent_id', '=', agentId);
}

function versionsOf(documentId: string) {
  return build.selectFrom('knowledge_versions').where('document_id', '=', documentId);
}
