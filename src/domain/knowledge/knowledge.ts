/** Documents that an agent knows, and the contract of the store that keeps and searches them. */
import type { Scope } from '../agent/agent.ts';
import type { Passage } from './passages.ts';

/** Kinds of documents that are read. */
export const KNOWLEDGE_TYPES = ['text/plain', 'text/markdown', 'text/html', 'application/pdf'] as const;

/** One of `KNOWLEDGE_TYPES`. */
export type KnowledgeType = (typeof KNOWLEDGE_TYPES)[number];

/** One version of a document. */
export interface KnowledgeDocument extends Scope {
  /** `doc_…` */
  readonly id: string;
  readonly agentId: string;
  /** Unique among the agent's documents; a document of the same name is its next version. */
  readonly name: string;
  /** Counted from 1. */
  readonly version: number;
  readonly mediaType: KnowledgeType;
  /** Length of its text. */
  readonly chars: number;
  /** Passages that are searched. */
  readonly passages: number;
  readonly createdAt: Date;
}

/** Limits: lengths in characters, sizes in bytes, counts. */
export const KNOWLEDGE_LIMITS = {
  documentsMax: 200,
  nameCharsMax: 200,
  textCharsMax: 1_000_000,
  fileBytesMax: 10_485_760,
  versionsKept: 5,
} as const;

/** A passage that answers a question, best first. */
export interface FoundPassage {
  readonly documentId: string;
  readonly documentName: string;
  readonly heading: string;
  readonly text: string;
}

/** Keeps documents. Every method is one transaction. */
export interface KnowledgeStore {
  /**
   * Saves a document with its text and its passages. Only passages of the newest version are found; older versions are kept, up to
   * `KNOWLEDGE_LIMITS.versionsKept`.
   *
   * @throws {ServiceError} CONFLICT when the agent has `KNOWLEDGE_LIMITS.documentsMax` documents already.
   */
  insert(
    document: Omit<KnowledgeDocument, 'version' | 'chars' | 'passages'>,
    content: { readonly text: string; readonly passages: readonly Passage[] },
  ): Promise<KnowledgeDocument>;

  /** Deletes all versions of the document with this id. @returns whether there was one. */
  delete(scope: Scope, agentId: string, documentId: string): Promise<boolean>;

  /** A document of any version, with its text. */
  find(
    scope: Scope,
    agentId: string,
    documentId: string,
  ): Promise<{ readonly document: KnowledgeDocument; readonly text: string } | undefined>;

  /** Newest versions by name. */
  list(
    scope: Scope,
    agentId: string,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly documents: readonly KnowledgeDocument[]; readonly total: number }>;

  /** Passages that share words with a question, the rarer words counting for more (BM25); best first. */
  search(agentId: string, question: string, limit: number): Promise<readonly FoundPassage[]>;
}
