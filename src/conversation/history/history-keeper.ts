/** Keeps requests within the model's context window: summarises the older part of a long call between turns. */

import { type Clock, TimeLimit } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { type LanguageModelCounts, UNCOUNTED } from '../../lib/metrics/model-metrics.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import {
  ANSWER_TOKENS_MAX,
  type ChatMessage,
  type LanguageModel,
  type ModelUsage,
  type ToolDescription,
} from '../../llm/language-model.ts';
import {
  readSummary,
  SUMMARY_CHARS_MAX,
  summaryMessage,
  summaryRequest,
  withNote,
} from './prompt.ts';

/** A summary that takes longer comes too late. */
const SUMMARY_MS_MAX = 20_000;

/** Failed or interrupted attempts after which the part is left out once the window is full. */
const TRIES_MAX = 4;

/** A model's answer that is longer than this is no summary. */
const ANSWER_CHARS_MAX = 3 * SUMMARY_CHARS_MAX;

interface Parts {
  readonly model: LanguageModel;
  readonly tools: { readonly descriptions: readonly ToolDescription[] };
  readonly clock: Clock;
  readonly log: Logger;
  /** Counters of summaries; nothing is counted where undefined. */
  readonly counts?: LanguageModelCounts;
}

/** The messages of one request, and where to tell how long the model found them. */
export interface FittingRequest {
  readonly messages: readonly ChatMessage[];
  readonly onUsage: (usage: ModelUsage) => void;
}

/** History of one call. Between two summaries each request extends the one before, so that prompt caches stay valid. */
export class HistoryKeeper {
  readonly #parts: Parts;
  readonly #tools: readonly ToolDescription[];
  readonly #toolsLength: number;
  readonly #counts: LanguageModelCounts;
  #perToken = CHARACTERS_PER_TOKEN;
  /** So many of the oldest messages are replaced by the summary. */
  #covered = 0;
  #summary = '';
  #tries = 0;
  /** Messages of the newest request, without the system prompt. */
  #history: readonly ChatMessage[] = [];
  #system: readonly ChatMessage[] = [];
  #rule: string | undefined;
  #background: AbortController | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#tools = parts.tools.descriptions;
    this.#toolsLength = lengthOfTools(this.#tools);
    this.#counts = parts.counts ?? UNCOUNTED;
  }

  /** Makes the model read the beginning of the first request in advance. The first request ends it. */
  begin(messages: readonly ChatMessage[]): void {
    this.#inBackground((signal) => this.#warm(messages, signal));
  }

  /** Size limit of a request's messages, in characters. */
  get roomChars(): number {
    return this.#room.max;
  }

  /**
   * Makes a request of the whole conversation, system prompt first. Stops a request that runs in the background.
   *
   * @param note goes before the caller's last words, and is not kept.
   */
  fit(messages: readonly ChatMessage[], note = ''): FittingRequest {
    this.#background?.abort(new Error('the model is asked'));
    this.#system = messages.slice(0, 1);
    this.#history = messages.slice(1);
    if (this.#length() + note.length > this.#room.max) this.#cut();
    const fitting = withNote(this.#shown(), note);
    const characters = lengthOf(fitting) + this.#toolsLength;
    const onUsage = ({ promptTokens }: ModelUsage) => {
      this.#perToken = charactersPerToken(characters, promptTokens);
    };
    return { messages: fitting, onUsage };
  }

  /**
   * Sets a rule that was added during the call; undefined removes it. The rule stays where it was added as long as that message
   * is shown, since a model re-reads a prompt that changes at its beginning. After that, the system prompt has it.
   */
  keepTo(rule: string | undefined): void {
    this.#rule = rule;
  }

  /** The model has answered: time for a summary, if one is due. */
  answered(): void {
    const { verbatimMax, summariseAt } = this.#room;
    if (this.#length() <= summariseAt || this.#tries >= TRIES_MAX) return;
    const until = this.#covered + verbatimFrom(this.#history.slice(this.#covered), verbatimMax);
    if (until <= this.#covered) return;
    this.#tries += 1;
    this.#inBackground((signal) => this.#summarise(until, signal));
  }

  /** Ends the request in the background. Safe to call twice. */
  stop(): void {
    this.#background?.abort(new Error('the call is over'));
  }

  get #room(): Room {
    return roomFor(this.#parts.model.contextTokens, this.#toolsLength, this.#perToken);
  }

  /** Messages as the model is shown them. */
  #shown(): readonly ChatMessage[] {
    const summary = this.#summary === '' ? [] : [summaryMessage(this.#summary)];
    const rest = this.#history.slice(this.#covered);
    return [...this.#systemBefore(rest), ...summary, ...rest];
  }

  #systemBefore(rest: readonly ChatMessage[]): readonly ChatMessage[] {
    const rule = this.#rule;
    if (rule === undefined || rest.some(({ content }) => content.includes(rule))) {
      return this.#system;
    }
    return this.#system.map((message) => ({ ...message, content: `${message.content}\n${rule}` }));
  }

  #length(): number {
    return lengthOf(this.#shown());
  }

  /** Leaves the oldest part out without a summary: otherwise the model could not answer at all. */
  #cut(): void {
    const rest = this.#history.slice(this.#covered);
    const left = verbatimFrom(rest, this.#room.verbatimMax);
    if (left === 0) return;
    this.#covered += left;
    this.#tries = 0;
    this.#counts.historySummarised('cut');
    this.#parts.log.warn({ left }, 'oldest part of a long call left out: there is no summary');
  }

  async #summarise(until: number, signal: AbortSignal): Promise<void> {
    const { log } = this.#parts;
    const part = this.#history.slice(this.#covered, until);
    try {
      const summary = readSummary(await this.#ask(part, signal));
      if (signal.aborted) return;
      if (summary === '') throw new Error('the summary is empty');
      this.#summary = summary;
      this.#covered = until;
      this.#tries = 0;
      this.#counts.historySummarised('done');
      log.info({ covered: until }, 'older part of a long call summarised');
    } catch (error) {
      if (signal.aborted) return;
      this.#counts.historySummarised('failed');
      log.warn({ reason: messageOf(error) }, 'older part of a long call could not be summarised');
      return;
    }
    await this.#warm(this.#shown(), signal);
  }

  async #ask(part: readonly ChatMessage[], signal: AbortSignal): Promise<string> {
    const { model, clock } = this.#parts;
    using limit = new TimeLimit(clock, SUMMARY_MS_MAX, { signal, reason: 'it takes too long' });
    const messages = summaryRequest(this.#summary, part, this.#room.summariseAt);
    let text = '';
    for await (const event of model.stream({ messages, signal: limit.signal })) {
      if (event.kind === 'text') text += event.text;
      if (text.length > ANSWER_CHARS_MAX) break;
    }
    return text;
  }

  async #warm(messages: readonly ChatMessage[], signal: AbortSignal): Promise<void> {
    const request = { messages, tools: this.#tools, signal };
    // The first answer reports a model that fails.
    await this.#parts.model.warm?.(request).catch(() => undefined);
  }

  /** One thing at a time. */
  #inBackground(work: (signal: AbortSignal) => Promise<void>): void {
    this.#background?.abort(new Error('there is something newer to do'));
    const controller = new AbortController();
    this.#background = controller;
    void work(controller.signal);
  }
}

/** Most languages have more characters a token; fewer is the safe side. The model's own numbers take its place. */
const CHARACTERS_PER_TOKEN = 3.5;

/** More characters a token than any text has; a server that counts only uncached tokens reports more. */
const CHARACTERS_PER_TOKEN_MAX = 4;

/** Templates put a few tokens around every message. */
const WRAPPING_CHARACTERS = 20;

/** Used share of the context window at which the history is summarised. */
const SUMMARY_SHARE = 0.7;

/** Largest share of the context window for turns that stay word for word. */
const VERBATIM_SHARE = 0.25;

/** The last three turns stay word for word, however long they are. */
const VERBATIM_MESSAGES_MIN = 6;

/** A guess at the length of messages as a model counts them, in characters. */
export function lengthOf(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => {
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
    const called = calls.length === 0 ? 0 : JSON.stringify(calls).length;
    return sum + message.content.length + called + WRAPPING_CHARACTERS;
  }, 0);
}

/** Characters a token, from a prompt whose length the model has reported. */
export function charactersPerToken(characters: number, promptTokens: number): number {
  return Math.min(CHARACTERS_PER_TOKEN_MAX, Math.max(1, characters / promptTokens));
}

/** Size limits for the messages of one call, in characters. */
interface Room {
  readonly summariseAt: number;
  readonly verbatimMax: number;
  readonly max: number;
}

/** Length of the tool descriptions in every request, in characters. */
export function lengthOfTools(tools: readonly ToolDescription[]): number {
  return tools.length === 0 ? 0 : JSON.stringify(tools).length;
}

/**
 * @param contextTokens the model's window; undefined where there is no limit.
 * @param toolsLength in characters.
 */
export function roomFor(
  contextTokens: number | undefined,
  toolsLength: number,
  perToken: number,
): Room {
  const tokens = (contextTokens ?? Number.POSITIVE_INFINITY) - ANSWER_TOKENS_MAX;
  const max = Math.max(0, tokens * perToken - toolsLength);
  return { summariseAt: max * SUMMARY_SHARE, verbatimMax: max * VERBATIM_SHARE, max };
}

/**
 * Finds where the verbatim part begins: with words of the agent if possible, never between a tool call and its result,
 * so that the part before it can be one message of the other side.
 *
 * @param messages without the system prompt.
 * @returns index into `messages`; 0 when all of them stay.
 */
export function verbatimFrom(messages: readonly ChatMessage[], verbatimMax: number): number {
  const newest = Math.max(0, messages.length - VERBATIM_MESSAGES_MIN);
  let length = lengthOf(messages.slice(newest));
  let first = newest;
  while (first > 0) {
    length += lengthOf(messages.slice(first - 1, first));
    if (length > verbatimMax) break;
    first -= 1;
  }
  return boundaryUpTo(messages, first, newest) ?? boundaryUpTo(messages, 1, first) ?? 0;
}

/** The first good place to begin in `from..to`; words of the caller where the agent has none. */
function boundaryUpTo(
  messages: readonly ChatMessage[],
  from: number,
  to: number,
): number | undefined {
  const places = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
  const says = (role: ChatMessage['role']) => (place: number) => {
    const message = messages[place];
    return message?.role === role && !(message.role === 'assistant' && message.toolCalls);
  };
  return places.find(says('assistant')) ?? places.find(says('user'));
}
