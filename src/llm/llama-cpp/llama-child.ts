/** Child process that holds the weights: a crash of native code ends no call. */

import { endProcess, obeyParent, tellParent } from '../../lib/process/child-supervisor.ts';
import { LlamaEngine } from './llama-engine.ts';
import type { FromLlama, LlamaOrder, ToLlama } from './llama-keeper.ts';

let engine: LlamaEngine | undefined;
const aborts = new Map<number, AbortController>();

obeyParent(obey);

function obey(message: ToLlama): void {
  switch (message.kind) {
    case 'load':
      void load(message.order);
      break;
    case 'ask':
    case 'warm':
      void answer(message);
      break;
    case 'abort':
      aborts.get(message.id)?.abort(new Error('aborted'));
      break;
    case 'stop':
      void endProcess(release);
      break;
    default:
      message satisfies never;
  }
}

async function load(order: LlamaOrder): Promise<void> {
  try {
    engine = await LlamaEngine.open(order);
    send({ kind: 'loaded', contextTokens: engine.contextTokens });
  } catch (error) {
    send({ kind: 'not-loaded', reason: reasonOf(error) });
  }
}

async function answer(asked: Extract<ToLlama, { readonly id: number; question: unknown }>) {
  const { id, kind, question } = asked;
  const abort = new AbortController();
  aborts.set(id, abort);
  try {
    if (engine === undefined) throw new Error('it is not loaded');
    const { signal } = abort;
    const promptTokens =
      kind === 'warm'
        ? await engine.warm({ question, signal })
        : await engine.answer({ question, signal }, (event) => send({ kind: 'event', id, event }));
    send({ kind: 'done', id, promptTokens });
  } catch (error) {
    send({ kind: 'failed', id, reason: reasonOf(error) });
  } finally {
    aborts.delete(id);
  }
}

async function release(): Promise<void> {
  for (const abort of aborts.values()) abort.abort(new Error('stopping'));
  await engine?.close();
}

function send(message: FromLlama): void {
  tellParent(message);
}

/** The first line: native libraries go on with paths and stack frames. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n')[0] ?? '').slice(0, 300);
}
