/** Listens to the language model for one reply and tells the turn machine what it says, clause by clause. */
import type { Logger } from '../../lib/logger.ts';
import type { ChatMessage, LanguageModel, ToolDescription } from '../../llm/language-model.ts';
import type { HistoryKeeper } from '../history/history-keeper.ts';
import type { TurnHappening } from '../turn/turn-event.ts';
import { ClauseSplitter, hasSound, speakable } from './clause-splitter.ts';

/** Nobody listens to more than a minute or two at a stretch; a model that rambles is stopped here. */
export const CHARACTERS_MAX = 1500;

/** A model that asks for more than this at once is confused. */
export const CALLS_MAX = 8;

export interface Thought {
  readonly reply: number;
  readonly model: LanguageModel;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDescription[];
  /** Makes the messages fit the model's window. */
  readonly history: HistoryKeeper;
  readonly signal: AbortSignal;
  readonly tell: (happening: TurnHappening) => void;
  readonly log: Logger;
}

/** Asks the model. Never rejects; tells nothing more once its signal is aborted. */
export async function think(thought: Thought): Promise<void> {
  const { reply, signal, tell, log } = thought;
  const splitter = new ClauseSplitter();
  try {
    await listen(thought, splitter);
    if (signal.aborted) return;
    tellClauses(thought, splitter.flush());
    tell({ kind: 'model-finished', reply });
    thought.history.answered();
  } catch (error) {
    if (signal.aborted) return;
    const reason = error instanceof Error ? error.message : String(error);
    log.warn({ reply, model: thought.model.name, reason }, 'language model failed in a call');
    // What is left in the splitter broke off in mid-sentence; better not to say it.
    tell({ kind: 'model-failed', reply });
  }
}

async function listen(thought: Thought, splitter: ClauseSplitter): Promise<void> {
  const { reply, model, messages, tools, history, signal, tell } = thought;
  let characters = 0;
  let calls = 0;
  let hasBegun = false;
  for await (const event of model.stream({ ...history.fit(messages), tools, signal })) {
    if (signal.aborted) return;
    if (!hasBegun) tell({ kind: 'model-began', reply });
    hasBegun = true;
    if (event.kind === 'text') {
      characters += event.text.length;
      tellClauses(thought, splitter.push(event.text));
    } else {
      calls += 1;
      tell({ kind: 'tool-called', reply, call: event.call });
    }
    if (characters > CHARACTERS_MAX || calls >= CALLS_MAX) return;
  }
}

function tellClauses({ reply, tell }: Thought, pieces: readonly string[]): void {
  for (const text of pieces.map(speakable).filter(hasSound)) tell({ kind: 'clause', reply, text });
}
