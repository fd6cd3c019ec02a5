/** Documents that an agent answers from, and the contract of the store that keeps them. */
import type { Scope } from '../agent/agent.ts';
import type { Page, PageRange } from '../ids.ts';
import { type ServiceError, unprocessable } from '../service-error.ts';
import { type Passage, passagesOf } from './passages.ts';

/** Media types of documents. */
export const KNOWLEDGE_TYPES = [
  'text/plain',
  'text/markdown',
  'text/html',
  'application/pdf',
] as const;

/** One of `KNOWLEDGE_TYPES`. */
export type KnowledgeType = (typeof KNOWLEDGE_TYPES)[number];

/** A document in its newest version. */
export interface KnowledgeDocument extends Scope {
  /** `doc_…`; the same for all versions. */
  readonly id: string;
  readonly agentId: string;
  /** Unique among the agent's documents. */
  readonly name: string;
  /** Counted from 1. */
  readonly version: number;
  readonly mediaType: KnowledgeType;
  /** Length of its text in characters. */
  readonly chars: number;
  /** Number of its passages, which a search finds one by one. */
  readonly passages: number;
  readonly createdAt: Date;
  /** When its newest version was added. */
  readonly updatedAt: Date;
}

/** A version of a document, without its text. */
export interface KnowledgeVersion
  extends Pick<KnowledgeDocument, 'version' | 'mediaType' | 'chars' | 'createdAt'> {}

/**
 * Limits: lengths in characters, sizes in bytes, counts. Limits of an agent count newest versions. Writing a document into the
 * full text index takes the main thread 50 ms at most, and a search of the largest agent stays below 50 ms.
 */
export const KNOWLEDGE_LIMITS = {
  nameCharsMax: 200,
  textCharsMax: 300_000,
  fileBytesMax: 10 * 1024 * 1024,
  documentPassagesMax: 1000,
  agentDocumentsMax: 100,
  agentCharsMax: 3_000_000,
  agentPassagesMax: 10_000,
  versionsKept: 5,
} as const;

/** A document as it is added. */
export interface KnowledgeDraft extends Scope {
  /** Used where the agent has no document of this name. */
  readonly id: string;
  readonly agentId: string;
  readonly name: string;
  readonly mediaType: KnowledgeType;
  readonly now: Date;
}

/** A document of one version with its text. */
export interface KnowledgeText {
  readonly document: KnowledgeDocument;
  /** Newest first. */
  readonly versions: readonly KnowledgeVersion[];
  readonly text: string;
}

/** A passage that answers a question. */
export interface FoundPassage {
  readonly documentName: string;
  readonly version: number;
  /** Place in the document, from 1. */
  readonly number: number;
  readonly heading: string;
  readonly text: string;
}

/** Searches the documents of one agent. */
export interface PassageSearch {
  /**
   * Finds passages for a question, best first.
   *
   * @param limitMs the caller waits this long; a search may leave slow sources out.
   * @throws {Error} when the documents cannot be searched.
   */
  find(question: string, limitMs: number): Promise<readonly FoundPassage[]>;
}

/** A passage whose meaning is still to be computed. */
export interface UnreadPassage extends Passage {
  readonly id: number;
}

/** Keeps documents. Every method is one transaction. */
export interface KnowledgeStore {
  /**
   * Saves a document, or the next version of the one with this name; a text that is the same makes no version. Only
   * passages of the newest version are found; older versions are kept, up to `KNOWLEDGE_LIMITS.versionsKept` in all.
   *
   * @throws {ServiceError} CONFLICT when a limit of the agent is reached.
   */
  save(
    draft: KnowledgeDraft,
    content: { readonly text: string; readonly passages: readonly Passage[] },
  ): Promise<KnowledgeDocument>;

  /** Deletes a document with all its versions. @returns whether there was one. */
  delete(scope: Scope, agentId: string, documentId: string): Promise<boolean>;

  /** @param version the newest unless given. */
  find(
    scope: Scope,
    ids: { readonly agentId: string; readonly documentId: string },
    version?: number,
  ): Promise<KnowledgeText | undefined>;

  /** Passages without a vector of this embedding model, oldest first. */
  withoutVector(model: string, limit: number): Promise<readonly UnreadPassage[]>;

  /** Saves the vectors of passages; passages that were deleted meanwhile are left out. */
  saveVectors(
    model: string,
    vectors: readonly { readonly id: number; readonly vector: Float32Array }[],
  ): Promise<void>;

  /** Lists documents by name. */
  list(scope: Scope, agentId: string, page: PageRange): Promise<Page<KnowledgeDocument>>;
}

/** A document as a file. */
export interface DocumentFile {
  readonly bytes: Uint8Array;
  readonly mediaType: KnowledgeType;
}

/** Reads the text of files that strangers may have made. */
export interface DocumentReader {
  /**
   * Gives the text of a file, with headings as Markdown has them.
   *
   * @throws {ServiceError} UNPROCESSABLE when the file cannot be read, SERVICE_UNAVAILABLE when others wait already.
   */
  read(file: DocumentFile): Promise<string>;
}

/** Text of a document, and its passages. */
interface KnowledgeContent {
  readonly text: string;
  readonly passages: readonly Passage[];
}

/**
 * Parts a text into passages.
 *
 * @throws {ServiceError} UNPROCESSABLE when the text has no words, or is too long.
 */
export function contentOf(text: string): KnowledgeContent {
  const { textCharsMax, documentPassagesMax } = KNOWLEDGE_LIMITS;
  if (text.length > textCharsMax) {
    throw unusable(`it has ${text.length} characters of text, and ${textCharsMax} is the most`);
  }
  const passages = passagesOf(text);
  if (passages.length === 0) throw unusable('it has no text');
  if (passages.length > documentPassagesMax) {
    throw unusable(
      `it has ${passages.length} passages, many of them short, and ${documentPassagesMax} is the most`,
    );
  }
  return { text, passages };
}

function unusable(why: string): ServiceError {
  return unprocessable(`Cannot use the document: ${why}`);
}
