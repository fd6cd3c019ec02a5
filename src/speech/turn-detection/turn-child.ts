/** The turn detector's child process: one model for all calls, one score at a time. */

import { endProcess, obeyParent, tellParent } from '../../lib/process/child-supervisor.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import {
  type Loaded,
  type LoadOrder,
  openFirst,
  type StopOrder,
} from '../stt/pool/model-process.ts';
import type {
  FromTurnChild,
  ToTurnChild,
  TurnDetector,
  TurnDetectorModule,
} from './turn-detector.ts';

let detector: TurnDetector | null = null;

obeyParent(obey);

function obey(message: ToTurnChild | LoadOrder | StopOrder): void {
  switch (message.kind) {
    case 'load':
      void load(message);
      break;
    case 'score':
      void score(message);
      break;
    case 'stop':
      void endProcess(async () => detector?.close());
      break;
    default:
      message satisfies never;
  }
}

async function load({ moduleUrl, models }: LoadOrder): Promise<void> {
  const { openTurnDetector } = (await import(moduleUrl)) as TurnDetectorModule;
  const { opened, outcome } = await openFirst(models, openTurnDetector);
  detector = opened;
  send({ kind: 'loaded', outcome });
}

async function score({ request, pcm }: ToTurnChild): Promise<void> {
  try {
    if (detector === null) throw new Error('no model is loaded');
    send({ kind: 'scored', request, probability: await detector.score(pcm) });
  } catch (error) {
    send({ kind: 'failed', request, reason: messageOf(error) });
  }
}

function send(message: FromTurnChild | Loaded): void {
  tellParent(message);
}
