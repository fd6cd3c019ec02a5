/** The embedding model's child process: one model, one text at a time. A crash or a kill affects no other process. */

import { endProcess, obeyParent, tellParent } from '../../../lib/process/child-supervisor.ts';
import { messageOf } from '../../../lib/unknown-value.ts';
import { openSentenceModel, type SentenceModel } from './sentence-model.ts';

/** Messages to the process; `load` is the first. */
export type ToEmbeddingChild =
  | { readonly kind: 'load'; readonly folder: string }
  | { readonly kind: 'embed'; readonly request: number; readonly text: string }
  | { readonly kind: 'stop' };

/** Messages from the process. */
export type FromEmbeddingChild =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'unloadable'; readonly reason: string }
  | { readonly kind: 'vector'; readonly request: number; readonly vector: Float32Array }
  | { readonly kind: 'failed'; readonly request: number; readonly reason: string };

/** Threads of computing: more would take processors from the calls. */
const THREADS = 1;

let model: SentenceModel | undefined;

obeyParent(obey);

function obey(message: ToEmbeddingChild): void {
  switch (message.kind) {
    case 'load':
      void load(message.folder);
      break;
    case 'embed':
      void embed(message.request, message.text);
      break;
    case 'stop':
      void endProcess(() => model?.close());
      break;
    default:
      message satisfies never;
  }
}

async function load(folder: string): Promise<void> {
  try {
    model = await openSentenceModel(folder, { threads: THREADS });
    tell({ kind: 'loaded' });
  } catch (error) {
    tell({ kind: 'unloadable', reason: messageOf(error) });
  }
}

async function embed(request: number, text: string): Promise<void> {
  try {
    if (model === undefined) throw new Error('no model is loaded');
    tell({ kind: 'vector', request, vector: await model.vectorOf(text) });
  } catch (error) {
    tell({ kind: 'failed', request, reason: messageOf(error) });
  }
}

function tell(message: FromEmbeddingChild): void {
  tellParent(message);
}
