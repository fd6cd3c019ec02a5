/** Streams the language model's answer for one reply: turn events for its first token, each clause, each tool call, its end. */
import { isSayable } from '../../domain/agent/agent-rules.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { isObject, type JsonObject, jsonOf, messageOf } from '../../lib/unknown-value.ts';
import type {
  ChatMessage,
  LanguageModel,
  ToolCall,
  ToolDescription,
} from '../../llm/language-model.ts';
import type { FittingRequest, HistoryKeeper } from '../history/history-keeper.ts';
import { noteOf } from '../history/prompt.ts';
import type { KnowledgeLookup } from '../knowledge-lookup.ts';
import type { TurnEvent } from '../turn/turn-event.ts';
import { ClauseSplitter, speakable } from './clause-splitter.ts';
import { StageDirectionFilter } from './stage-directions.ts';
import { UnspokenFilter } from './unspoken-filter.ts';

/** Longest answer in characters, about two minutes of speech; a longer one is cut here. */
export const CHARACTERS_MAX = 1500;

/** Most tool calls in one answer. */
export const CALLS_MAX = 8;

/** Interval of `model-waits` and of the check of text that has no punctuation yet. */
const WATCH_TICK_MS = 250;

/** Age at which text without punctuation is spoken, if the agent is silent. */
const HURRY_MS = 700;

/** One request to the language model, and where its events go. */
interface ReplyRequest {
  readonly reply: number;
  readonly model: LanguageModel;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDescription[];
  /** Makes the messages fit the model's window. */
  readonly history: HistoryKeeper;
  /** Undefined where the agent has no documents. */
  readonly knowledge?: KnowledgeLookup | undefined;
  readonly signal: AbortSignal;
  readonly tell: (event: TurnEvent) => void;
  /** Whether the caller has heard all clauses of the reply so far. */
  readonly isVoiceDry: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Reason for aborting a request whose reply ends without the rest of the answer. */
export class AnswerGivenUp extends Error {
  override readonly name = 'AnswerGivenUp';

  constructor() {
    super('the agent gave the answer up, because nothing more came');
  }
}

/** Asks the model. Never rejects; sends no event once its signal is aborted. */
export async function streamReply(request: ReplyRequest): Promise<void> {
  const { reply, signal, tell, log } = request;
  const splitter = new ClauseSplitter();
  const watch = new StreamWatch(request, splitter);
  try {
    const text = await consume(request, splitter, watch);
    if (signal.aborted) return;
    // Of an answer that was too long, the rest breaks off in mid-sentence.
    const isCut = text.length > CHARACTERS_MAX && watch.hasToldAny;
    if (!isCut) tellClauses(request, splitter.flush());
    if (!watch.hasToldAny) tellWrittenCall(request, text);
    tell({ kind: 'model-finished', reply });
    request.history.answered();
  } catch (error) {
    if (signal.aborted && !(signal.reason instanceof AnswerGivenUp)) return;
    const reason = messageOf(error);
    log.warn({ reply, model: request.model.name, reason }, 'language model failed in a call');
    if (signal.aborted) return;
    // The rest in the splitter broke off in mid-sentence: it is not spoken.
    tell({ kind: 'model-failed', reply });
  } finally {
    watch.end();
  }
}

/** @returns the model's text as it came. */
async function consume(
  request: ReplyRequest,
  splitter: ClauseSplitter,
  watch: StreamWatch,
): Promise<string> {
  const { reply, model, messages, tools, history, knowledge, signal, tell } = request;
  const filter = new UnspokenFilter();
  const directions = new StageDirectionFilter();
  let text = '';
  let calls = 0;
  let hasBegun = false;
  // Without documents the model is asked at once, before the record of the caller's words is written.
  const fitting =
    knowledge === undefined ? history.fit(messages) : await withPassages(request, knowledge);
  for await (const event of model.stream({ ...fitting, tools, signal })) {
    if (signal.aborted) return text;
    if (!hasBegun) tell({ kind: 'model-began', reply });
    hasBegun = true;
    if (event.kind === 'text') {
      text += event.text;
      const spoken = directions.push(filter.push(event.text));
      tellText(request, splitter, watch, spoken);
    } else {
      watch.hasTold();
      calls += 1;
      tell({ kind: 'tool-called', reply, call: event.call });
    }
    if (text.length > CHARACTERS_MAX || calls >= CALLS_MAX) break;
  }
  tellText(request, splitter, watch, directions.flush());
  return text;
}

function tellText(
  request: ReplyRequest,
  splitter: ClauseSplitter,
  watch: StreamWatch,
  text: string,
): void {
  if (tellClauses(request, splitter.push(text))) watch.hasTold();
  else watch.hasText();
}

/** The request with passages of the agent's documents for the caller's last words. */
async function withPassages(
  { reply, messages, history, signal, tell }: ReplyRequest,
  knowledge: KnowledgeLookup,
): Promise<FittingRequest> {
  const passages = await knowledge.passagesFor(messages);
  const { text, sources } = noteOf(passages, history.roomChars);
  signal.throwIfAborted();
  if (sources.length > 0) tell({ kind: 'passages-given', reply, sources });
  return history.fit(messages, text);
}

/** An answer without a clause may be a tool call that the model wrote as text. */
function tellWrittenCall({ reply, tools, tell }: ReplyRequest, text: string): void {
  const call = writtenToolCall(text, tools);
  if (call !== null) tell({ kind: 'tool-called', reply, call });
}

/** @returns whether there were any. */
function tellClauses({ reply, tell }: ReplyRequest, pieces: readonly string[]): boolean {
  const clauses = pieces.map(speakable).filter(isSayable);
  for (const text of clauses) tell({ kind: 'clause', reply, text });
  return clauses.length > 0;
}

/** Reports how long the caller has heard nothing while the model streams, and sends text that has waited too long for a mark. */
class StreamWatch {
  readonly #request: ReplyRequest;
  readonly #splitter: ClauseSplitter;
  /** Beginning of the caller's silence: the request, or the end of the last clause that was played. */
  #silentAtMs: number;
  /** Whether the model's last clause was played to its end; a filler after it does not count. */
  #isHeardOut = true;
  #hasTold = false;
  /** Since when text waits for its mark. */
  #pendingAtMs: number | undefined;
  #cancel: () => void = () => undefined;

  constructor(request: ReplyRequest, splitter: ClauseSplitter) {
    this.#request = request;
    this.#splitter = splitter;
    this.#silentAtMs = request.clock.nowMs();
    this.#tickLater();
  }

  /** Whether a clause or a tool call was sent to the turn machine. */
  get hasToldAny(): boolean {
    return this.#hasTold;
  }

  /** Text came that ends no clause. It is spoken at once where the agent is silent and text has waited for a mark. */
  hasText(): void {
    const nowMs = this.#request.clock.nowMs();
    this.#pendingAtMs ??= nowMs;
    this.#hurry(nowMs);
  }

  /** Notes that clauses or a tool call were sent. The text after the last clause has just arrived. */
  hasTold(): void {
    this.#hasTold = true;
    this.#isHeardOut = false;
    this.#pendingAtMs = this.#request.clock.nowMs();
  }

  /** Safe to call twice. */
  end(): void {
    this.#cancel();
  }

  #tickLater(): void {
    this.#cancel = this.#request.clock.after(WATCH_TICK_MS, () => this.#tick());
  }

  #tick(): void {
    const { reply, signal, tell, clock } = this.#request;
    if (signal.aborted) return;
    const nowMs = clock.nowMs();
    this.#hurry(nowMs);
    if (!this.#isHeardOut) {
      this.#silentAtMs = nowMs;
      this.#isHeardOut = this.#request.isVoiceDry();
    }
    tell({ kind: 'model-waits', reply, waitedMs: nowMs - this.#silentAtMs });
    this.#tickLater();
  }

  #hurry(nowMs: number): void {
    if (!this.#isHurried(nowMs)) return;
    if (tellClauses(this.#request, this.#splitter.hurry())) this.hasTold();
  }

  #isHurried(nowMs: number): boolean {
    if (this.#pendingAtMs === undefined || nowMs - this.#pendingAtMs < HURRY_MS) return false;
    return !this.#hasTold || this.#request.isVoiceDry();
  }
}

/** Most text that is read as a call. */
const LENGTH_MAX = 1500;

/** Marks that models put around a call: code fences, `<tool_call>`, `[TOOL_CALLS]`. */
const WRAPPING = /```(?:json|tool_call|tool_code)?|<\/?[\w|]+>|\[\/?TOOL_CALLS?\]/gi;

/**
 * Reads an answer that is one tool call and nothing else, such as `{"name": "end_call", "arguments": {}}`.
 *
 * @param text the whole answer; only the model's own words, never a caller's.
 * @returns null where it is none, or names a tool that was not offered.
 */
export function writtenToolCall(text: string, tools: readonly ToolDescription[]): ToolCall | null {
  if (text.length > LENGTH_MAX) return null;
  const call = asObject(parsed(text.replace(WRAPPING, '').trim()));
  const named = asObject(call?.function) ?? call;
  const name = named?.name ?? named?.tool;
  const given = named?.arguments ?? named?.parameters ?? {};
  const args = asObject(typeof given === 'string' ? parsed(given) : given);
  const isOffered = tools.some((tool) => tool.name === name);
  if (typeof name !== 'string' || !isOffered || args === null) return null;
  return { id: `written-${name}`, name, arguments: args };
}

/** The value of a JSON text, or the only one in an array; undefined for any other text. */
function parsed(text: string): unknown {
  const value = jsonOf(text);
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}

function asObject(value: unknown): JsonObject | null {
  return isObject(value) ? value : null;
}
