/** The process that reads one document: started by `DocumentReaders`, which ends it at its time limit. */
import { Worker } from 'node:worker_threads';
import { type DocumentFile, KNOWLEDGE_LIMITS } from '../../domain/knowledge/knowledge.ts';
import { ignoreSignals } from '../../lib/process/child-supervisor.ts';
import { htmlText, pdfText } from './document-text.ts';

/** Answer of the process: the text, or the problem of the document. */
export type ReadAnswer = { readonly text: string } | { readonly problem: string };

/** Reading stops soon after this: the document is refused as too long. */
const CHARS_MAX = KNOWLEDGE_LIMITS.textCharsMax;

/** Resident memory, in bytes; the heap has its own limit, buffers have none but this. */
const MEMORY_BYTES_MAX = 512 * 1024 * 1024;

process.on('disconnect', () => process.exit(0));
ignoreSignals();
// A damaged PDF fails in several places at once; the one that is waited for says why.
process.on('unhandledRejection', () => undefined);
process.once('message', (file: DocumentFile) => void answer(file));
limitMemory();

/** A thread looks after the memory, because a hostile document may keep this one busy. */
function limitMemory(): void {
  new Worker(new URL('./memory-limit-thread.ts', import.meta.url), {
    workerData: MEMORY_BYTES_MAX,
  }).unref();
}

async function answer(file: DocumentFile): Promise<void> {
  let found: ReadAnswer;
  try {
    found = { text: await textOf(file) };
  } catch (error) {
    found = { problem: problemOf(error) };
  }
  process.send?.(found, () => process.exit(0));
}

async function textOf({ bytes, mediaType }: DocumentFile): Promise<string> {
  switch (mediaType) {
    case 'application/pdf':
      return await pdfText(bytes, CHARS_MAX);
    case 'text/html':
      return htmlText(decoded(bytes, charsetOf(bytes)), CHARS_MAX);
    case 'text/plain':
    case 'text/markdown':
      return decoded(bytes, 'utf-8');
    default:
      return mediaType satisfies never;
  }
}

/** The encoding that a page names in its first kilobyte; UTF-8 unless it does. */
function charsetOf(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  return /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]{1,40})/i.exec(head)?.[1] ?? 'utf-8';
}

/** @throws {Error} when the bytes are no text in this encoding. */
function decoded(bytes: Uint8Array, charset: string): string {
  const text = new TextDecoder(charset, { fatal: true }).decode(bytes);
  if (text.includes('\0')) throw new Error('it is no text: it has NUL characters');
  return text;
}

/** pdf.js names its errors. */
const PROBLEMS: Readonly<Record<string, string>> = {
  PasswordException: 'it needs a password',
  InvalidPDFException: 'it is no PDF, or is damaged',
};

function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof TypeError && 'code' in error) return 'it is not written in UTF-8';
  return PROBLEMS[error.name] ?? error.message;
}
