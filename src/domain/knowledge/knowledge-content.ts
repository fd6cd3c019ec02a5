/** The text of a document with its passages, within the limits; pure */
import { ServiceError } from '../service-error.ts';
import { KNOWLEDGE_LIMITS } from './knowledge.ts';
import { type Passage, passagesOf } from './passages.ts';

/** What a document says. */
export interface KnowledgeContent {
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
  return new ServiceError('UNPROCESSABLE', `Cannot use the document: ${why}`);
}
