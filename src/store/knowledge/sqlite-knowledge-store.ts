/** Documents of agents in SQLite, searched by its full text index (FTS5). */
import { sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import {
  type FoundPassage,
  KNOWLEDGE_LIMITS,
  type KnowledgeDocument,
  type KnowledgeStore,
} from '../../domain/knowledge/knowledge.ts';
import type { Passage } from '../../domain/knowledge/passages.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Queries } from '../queries.ts';
import { recordOf, rowOf } from '../sqlite/rows.ts';
import { build, type KnowledgeDocumentRow } from '../sqlite/schema.ts';

/** Words of a question that are looked for: the first ones of a long speech tell least. */
const WORDS_MAX = 24;

/** Keeps documents in SQLite. */
export class SqliteKnowledgeStore implements KnowledgeStore {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async insert(
    document: Omit<KnowledgeDocument, 'version' | 'chars' | 'passages'>,
    { text, passages }: { readonly text: string; readonly passages: readonly Passage[] },
  ): Promise<KnowledgeDocument> {
    return this.#database.transaction(async (transaction) => {
      const before = await newestOf(transaction, document, document.name);
      if (before === undefined) await requireRoom(transaction, document);
      const facts = { chars: text.length, passages: passages.length };
      const saved = { ...document, ...facts, version: (before?.version ?? 0) + 1 };
      await transaction.run(
        build.insertInto('knowledge_documents').values({ ...rowOf(saved), text, is_newest: 1 }),
      );
      if (before !== undefined) await retire(transaction, before.id);
      await addPassages(transaction, saved, passages);
      await dropOldVersions(transaction, saved);
      return saved;
    });
  }

  async delete(scope: Scope, agentId: string, documentId: string): Promise<boolean> {
    return this.#database.transaction(async (transaction) => {
      const found = await transaction.get(
        documentsOf(scope, agentId).select('name').where('id', '=', documentId),
      );
      if (found === undefined) return false;
      const versions = await transaction.all(
        documentsOf(scope, agentId).select('id').where('name', '=', found.name),
      );
      for (const { id } of versions) await forget(transaction, id);
      return true;
    });
  }

  async find(scope: Scope, agentId: string, documentId: string) {
    const row = await this.#database.get(
      documentsOf(scope, agentId).selectAll().where('id', '=', documentId),
    );
    return row === undefined ? undefined : { document: documentOf(row), text: row.text };
  }

  async list(
    scope: Scope,
    agentId: string,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ) {
    const newest = documentsOf(scope, agentId).where('is_newest', '=', 1);
    const page = newest.select(DOCUMENT_COLUMNS).orderBy('name').limit(limit).offset(offset);
    const count = newest.select((expression) => expression.fn.countAll<number>().as('n'));
    return {
      documents: (await this.#database.all(page)).map(documentOf),
      total: (await this.#database.get(count))?.n ?? 0,
    };
  }

  async search(agentId: string, question: string, limit: number): Promise<readonly FoundPassage[]> {
    const match = matchOf(question);
    if (match === '') return [];
    const found = sql<PassageRow>`
      select p.document_id, d.name as document_name, p.heading, p.text
      from knowledge_passages p join knowledge_documents d on d.id = p.document_id
      where knowledge_passages match ${match} and p.agent_id = ${agentId}
      order by bm25(knowledge_passages, 0, 0, 2.0, 1.0) limit ${limit}`;
    const rows = await this.#database.all(found.compile(build) as never);
    return (rows as readonly PassageRow[]).map((row) => ({
      documentId: row.document_id,
      documentName: row.document_name,
      heading: row.heading,
      text: row.text,
    }));
  }
}

interface PassageRow {
  readonly document_id: string;
  readonly document_name: string;
  readonly heading: string;
  readonly text: string;
}

const DOCUMENT_COLUMNS = [
  ...(['id', 'account_id', 'environment', 'agent_id', 'name', 'version'] as const),
  ...(['media_type', 'chars', 'passages', 'created_at'] as const),
] as const;

/** Question words of FTS5: any of them may be in a passage. Quoted, so that none is an operator. */
function matchOf(question: string): string {
  const words = question.toLowerCase().normalize('NFC').match(/[\p{L}\p{N}]+/gu) ?? [];
  const telling = [...new Set(words)].filter((word) => word.length > 1).slice(-WORDS_MAX);
  return telling.map((word) => `"${word}"`).join(' OR ');
}

async function newestOf(database: Queries, scope: Scope & { readonly agentId: string }, name: string) {
  return database.get(
    documentsOf(scope, scope.agentId)
      .select(['id', 'version'])
      .where('name', '=', name)
      .where('is_newest', '=', 1),
  );
}

async function requireRoom(
  database: Queries,
  scope: Scope & { readonly agentId: string },
): Promise<void> {
  const newest = documentsOf(scope, scope.agentId).where('is_newest', '=', 1);
  const count = newest.select((expression) => expression.fn.countAll<number>().as('n'));
  const { documentsMax } = KNOWLEDGE_LIMITS;
  if (((await database.get(count))?.n ?? 0) < documentsMax) return;
  throw new ServiceError(
    'CONFLICT',
    `Cannot add the document: the agent has ${documentsMax} already; delete one first`,
  );
}

/** The version before: kept, and not found any more. */
async function retire(database: Queries, id: string): Promise<void> {
  await database.run(
    build.updateTable('knowledge_documents').set({ is_newest: 0 }).where('id', '=', id),
  );
  await database.run(build.deleteFrom('knowledge_passages').where('document_id', '=', id));
}

async function addPassages(
  database: Queries,
  { agentId, id }: KnowledgeDocument,
  passages: readonly Passage[],
): Promise<void> {
  for (const { heading, text } of passages) {
    await database.run(
      build
        .insertInto('knowledge_passages')
        .values({ agent_id: agentId, document_id: id, heading, text }),
    );
  }
}

async function dropOldVersions(database: Queries, document: KnowledgeDocument): Promise<void> {
  const old = await database.all(
    documentsOf(document, document.agentId)
      .select('id')
      .where('name', '=', document.name)
      .orderBy('version', 'desc')
      .offset(KNOWLEDGE_LIMITS.versionsKept)
      .limit(1000),
  );
  for (const { id } of old) await forget(database, id);
}

async function forget(database: Queries, id: string): Promise<void> {
  await database.run(build.deleteFrom('knowledge_passages').where('document_id', '=', id));
  await database.run(build.deleteFrom('knowledge_documents').where('id', '=', id));
}

function documentsOf({ accountId, environment }: Scope, agentId: string) {
  return build
    .selectFrom('knowledge_documents')
    .where('account_id', '=', accountId)
    .where('environment', '=', environment)
    .where('agent_id', '=', agentId);
}

function documentOf(row: Omit<KnowledgeDocumentRow, 'text' | 'is_newest'>): KnowledgeDocument {
  return recordOf<KnowledgeDocument>(row as never, { without: ['text', 'is_newest'] });
}
