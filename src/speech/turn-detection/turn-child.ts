/** The turn detector's child process: one model for all calls, one score at a time, so that it holds up nobody else. */

import { obeyParent, tellParent } from '../../lib/process/child.ts';
import type { TurnDetector, TurnDetectorModule } from './turn-lane.ts';
import type { FromTurnChild, ToTurnChild } from './turn-messages.ts';

let detector: TurnDetector | null = null;

obeyParent(obey);

function obey(message: ToTurnChild): void {
  switch (message.kind) {
    case 'load':
      void load(message.moduleUrl, message.models);
      break;
    case 'score':
      void score(message.request, message.pcm);
      break;
    case 'stop':
      void stop();
      break;
    default:
      message satisfies never;
  }
}

async function load(moduleUrl: string, models: readonly string[]): Promise<void> {
  const failures: string[] = [];
  const { openTurnDetector } = (await import(moduleUrl)) as TurnDetectorModule;
  for (const model of models) {
    try {
      detector = await openTurnDetector(model);
      send({ kind: 'loaded', outcome: { model, failures } });
      return;
    } catch (error) {
      failures.push(messageOf(error));
    }
  }
  send({ kind: 'loaded', outcome: { model: null, failures } });
}

async function score(request: number, pcm: Int16Array): Promise<void> {
  try {
    if (detector === null) throw new Error('no model is loaded');
    send({ kind: 'scored', request, probability: await detector.score(pcm) });
  } catch (error) {
    send({ kind: 'failed', request, reason: messageOf(error) });
  }
}

async function stop(): Promise<void> {
  await detector?.close();
  process.exit(0);
}

function send(message: FromTurnChild): void {
  tellParent(message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
