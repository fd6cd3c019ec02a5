/** Streams the language model's answer for one reply: turn events for its first token, each clause, each tool call, its end. */
import type { Logger } from '../../lib/logger.ts';
import type { ChatMessage, LanguageModel, ToolDescription } from '../../llm/language-model.ts';
import type { HistoryKeeper } from '../history/history-keeper.ts';
import type { TurnEvent } from '../turn/turn-event.ts';
import { ClauseSplitter, hasSound, speakable } from './clause-splitter.ts';

/** Longest answer in characters, about two minutes of speech; a longer one is cut here. */
export const CHARACTERS_MAX = 1500;

/** Most tool calls in one answer. */
export const CALLS_MAX = 8;

/** One request to the language model, and where its events go. */
export interface ReplyRequest {
  readonly reply: number;
  readonly model: LanguageModel;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDescription[];
  /** Makes the messages fit the model's window. */
  readonly history: HistoryKeeper;
  readonly signal: AbortSignal;
  readonly tell: (happening: TurnEvent) => void;
  readonly log: Logger;
}

/** Asks the model. Never rejects; sends no event once its signal is aborted. */
export async function streamReply(request: ReplyRequest): Promise<void> {
  const { reply, signal, tell, log } = request;
  const splitter = new ClauseSplitter();
  try {
    await consume(request, splitter);
    if (signal.aborted) return;
    tellClauses(request, splitter.flush());
    tell({ kind: 'model-finished', reply });
    request.history.answered();
  } catch (error) {
    if (signal.aborted) return;
    const reason = error instanceof Error ? error.message : String(error);
    log.warn({ reply, model: request.model.name, reason }, 'language model failed in a call');
    // The rest in the splitter broke off in mid-sentence: it is not spoken.
    tell({ kind: 'model-failed', reply });
  }
}

async function consume(request: ReplyRequest, splitter: ClauseSplitter): Promise<void> {
  const { reply, model, messages, tools, history, signal, tell } = request;
  let characters = 0;
  let calls = 0;
  let hasBegun = false;
  for await (const event of model.stream({ ...history.fit(messages), tools, signal })) {
    if (signal.aborted) return;
    if (!hasBegun) tell({ kind: 'model-began', reply });
    hasBegun = true;
    if (event.kind === 'text') {
      characters += event.text.length;
      tellClauses(request, splitter.push(event.text));
    } else {
      calls += 1;
      tell({ kind: 'tool-called', reply, call: event.call });
    }
    if (characters > CHARACTERS_MAX || calls >= CALLS_MAX) return;
  }
}

function tellClauses({ reply, tell }: ReplyRequest, pieces: readonly string[]): void {
  for (const text of pieces.map(speakable).filter(hasSound)) tell({ kind: 'clause', reply, text });
}
