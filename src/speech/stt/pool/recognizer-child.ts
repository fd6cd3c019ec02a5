/** The recogniser's child process: one model, one request at a time. A crash or a kill affects no other process. */

import { onnxProviders } from '../../../lib/onnx/onnx-providers.ts';
import { endProcess, obeyParent, tellParent } from '../../../lib/process/child-supervisor.ts';
import { messageOf } from '../../../lib/unknown-value.ts';
import { type Loaded, type LoadOrder, openFirst, type StopOrder } from './model-process.ts';
import type {
  FromChild,
  Recognizer,
  RecognizerModule,
  ToChild,
  UtteranceStream,
} from './recognizer.ts';

let recognizer: Recognizer | null = null;
const utterances = new Map<number, UtteranceStream>();
const aborts = new Map<number, AbortController>();

obeyParent(obey);

function obey(message: ToChild | LoadOrder | StopOrder): void {
  switch (message.kind) {
    case 'load':
      void load(message);
      break;
    case 'open':
      open(message);
      break;
    case 'audio':
      utterances.get(message.utterance)?.push(message.pcm);
      break;
    case 'transcribe':
      void transcribe(message);
      break;
    case 'abort':
      aborts.get(message.request)?.abort(new Error('aborted'));
      break;
    case 'close':
      utterances.delete(message.utterance);
      break;
    case 'stop':
      void endProcess(stop);
      break;
    default:
      message satisfies never;
  }
}

async function load(order: LoadOrder): Promise<void> {
  const { moduleUrl, models, modules = {}, threads = 1, providers } = order;
  if (providers !== undefined) onnxProviders.use(providers);
  const { opened, outcome } = await openFirst(models, async (model) => {
    const module = (await import(modules[model] ?? moduleUrl)) as RecognizerModule;
    return module.openRecognizer(model, { threads });
  });
  recognizer = opened;
  const notes = [outcome.drawback, onnxProviders.note].filter((note) => note !== undefined);
  const drawback = notes.length > 0 ? { drawback: notes.join('; ') } : {};
  send({ kind: 'loaded', outcome: { ...outcome, ...drawback } });
}

function open({ utterance, language, prompt }: Extract<ToChild, { kind: 'open' }>): void {
  if (recognizer === null) return;
  const options = { language, ...(prompt !== undefined && { prompt }) };
  utterances.set(utterance, recognizer.open(options));
}

async function transcribe(order: Extract<ToChild, { kind: 'transcribe' }>): Promise<void> {
  const { request, isFinal } = order;
  const abort = new AbortController();
  aborts.set(request, abort);
  try {
    const utterance = utterances.get(order.utterance);
    if (utterance === undefined) throw new Error('its audio is not here');
    const recognition = await utterance.transcribe({ isFinal, signal: abort.signal });
    send({ kind: 'answer', request, recognition });
  } catch (error) {
    send({ kind: 'failed', request, reason: messageOf(error) });
  } finally {
    aborts.delete(request);
  }
}

async function stop(): Promise<void> {
  for (const abort of aborts.values()) abort.abort(new Error('stopping'));
  await recognizer?.close();
}

function send(message: FromChild | Loaded): void {
  tellParent(message);
}
