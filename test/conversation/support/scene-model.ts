/** Turn-machine events of a scripted model answer, with their times. */
import { ClauseSplitter } from '../../../src/conversation/reply/clause-splitter.ts';
import type { TurnEvent } from '../../../src/conversation/turn/turn-event.ts';
import type { ModelAct } from './scene.ts';

const FIRST_WORD_MS = 120;
const WORD_MS = 15;

export interface TimedTurnEvent {
  readonly afterMs: number;
  readonly event: TurnEvent;
}

export function modelEvents(act: ModelAct, reply: number): TimedTurnEvent[] {
  if (act.failure === 'hangs') return [];
  const splitter = new ClauseSplitter();
  const words = act.text.split(/(?=\s)/).filter((word) => word !== '');
  const doneMs = FIRST_WORD_MS + words.length * WORD_MS;
  const clauses = (afterMs: number, texts: readonly string[]) =>
    texts.map((text) => ({ afterMs, event: { kind: 'clause', reply, text } }) as const);
  const spoken = words.flatMap((word, index) =>
    clauses(FIRST_WORD_MS + index * WORD_MS, splitter.push(word)),
  );
  if (act.failure === 'fails') return [{ afterMs: doneMs, event: { kind: 'model-failed', reply } }];
  const began = { afterMs: FIRST_WORD_MS, event: { kind: 'model-began', reply } } as const;
  if (act.failure === 'breaks off') {
    return [began, ...spoken, { afterMs: doneMs, event: { kind: 'model-failed', reply } }];
  }
  const calls = act.calls.map((name) => {
    const call = { id: name, name, arguments: {} };
    return { afterMs: doneMs, event: { kind: 'tool-called', reply, call } } as const;
  });
  const finished = { afterMs: doneMs, event: { kind: 'model-finished', reply } } as const;
  return [began, ...spoken, ...clauses(doneMs, splitter.flush()), ...calls, finished];
}
