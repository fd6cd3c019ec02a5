/** The recogniser's child process: one model, one request at a time, so that a crash or a kill harms nobody else. */
import { obeyParent, tellParent } from '../../../lib/process/child.ts';
import type { LoadOutcome } from '../../models/speech-engine.ts';
import type { LoadOrder, StopOrder } from './child-keeper.ts';
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
      void stop();
      break;
    default:
      message satisfies never;
  }
}

async function load(order: LoadOrder): Promise<void> {
  const { moduleUrl, models, modules = {}, threads = 1 } = order;
  const failures: string[] = [];
  for (const model of models) {
    try {
      const module = (await import(modules[model] ?? moduleUrl)) as RecognizerModule;
      recognizer = await module.openRecognizer(model, { threads });
      const { drawback } = recognizer;
      return answerLoaded({ model, failures, ...(drawback !== undefined && { drawback }) });
    } catch (error) {
      failures.push(messageOf(error));
    }
  }
  answerLoaded({ model: null, failures });
}

function answerLoaded(outcome: LoadOutcome): void {
  send({ kind: 'loaded', outcome });
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
  process.exit(0);
}

function send(message: FromChild): void {
  tellParent(message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
