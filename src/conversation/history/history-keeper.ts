/** Keeps what the model is asked within its window: sums up the older part of a long call while nobody waits. */
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { type LanguageModelCounts, UNCOUNTED } from '../../lib/metrics/language-model-metrics.ts';
import type {
  ChatMessage,
  LanguageModel,
  ModelUsage,
  ToolDescription,
} from '../../llm/language-model.ts';
import {
  CHARACTERS_PER_TOKEN,
  charactersPerToken,
  lengthOf,
  lengthOfTools,
  type Room,
  roomFor,
  verbatimFrom,
} from './history-plan.ts';
import {
  readSummary,
  SUMMARY_CHARS_MAX,
  summaryMessage,
  summaryRequest,
} from './history-summary.ts';

/** A summary that takes longer comes too late. */
const SUMMARY_MS_MAX = 20_000;

/** After this many attempts that failed or were interrupted, the part is left out when the window is full. */
const TRIES_MAX = 4;

/** A model's answer that is longer than this is no summary. */
const ANSWER_CHARS_MAX = 3 * SUMMARY_CHARS_MAX;

interface Parts {
  readonly model: LanguageModel;
  readonly tools: { readonly descriptions: readonly ToolDescription[] };
  readonly clock: Clock;
  readonly log: Logger;
  /** Nobody counts unless given. */
  readonly counts?: LanguageModelCounts;
}

/** The messages of one request, and where to tell how long the model found them. */
export interface FittingRequest {
  readonly messages: readonly ChatMessage[];
  readonly onUsage: (usage: ModelUsage) => void;
}

/** One call's. Between two summaries each request goes on where the one before ended, so that caches hold. */
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
  /** As last asked, without the system prompt. */
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

  /** Has the model read what the first request will begin with. The first request ends it. */
  begin(messages: readonly ChatMessage[]): void {
    this.#inBackground((signal) => this.#warm(messages, signal));
  }

  /** Makes a request of the whole conversation, system prompt first. What goes on in the background makes room for it. */
  fit(messages: readonly ChatMessage[]): FittingRequest {
    this.#background?.abort(new Error('the model is asked'));
    this.#system = messages.slice(0, 1);
    this.#history = messages.slice(1);
    if (this.#length() > this.#room.max) this.#cut();
    const fitting = this.#shown();
    const characters = lengthOf(fitting) + this.#toolsLength;
    const onUsage = ({ promptTokens }: ModelUsage) => {
      this.#perToken = charactersPerToken(characters, promptTokens);
    };
    return { messages: fitting, onUsage };
  }

  /**
   * Keeps the model to a rule that was told in the course of the call, until another takes its place or none. It stands
   * where it was told as long as that is shown, since a prompt that changes at its beginning is read anew; then in the
   * system prompt.
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

  /** Ends what goes on in the background. Safe to call twice. */
  stop(): void {
    this.#background?.abort(new Error('the call is over'));
  }

  get #room(): Room {
    return roomFor(this.#parts.model.contextTokens, this.#toolsLength, this.#perToken);
  }

  /** What the model is shown. */
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

  /** Leaves the oldest part out without a summary: no answer at all would be worse. */
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
      const reason = error instanceof Error ? error.message : String(error);
      this.#counts.historySummarised('failed');
      log.warn({ reason }, 'older part of a long call could not be summarised');
      return;
    }
    await this.#warm(this.#shown(), signal);
  }

  async #ask(part: readonly ChatMessage[], signal: AbortSignal): Promise<string> {
    const { model, clock } = this.#parts;
    const late = new AbortController();
    const cancel = clock.after(SUMMARY_MS_MAX, () => late.abort(new Error('it takes too long')));
    try {
      const messages = summaryRequest(this.#summary, part, this.#room.summariseAt);
      const signals = AbortSignal.any([signal, late.signal]);
      let text = '';
      for await (const event of model.stream({ messages, signal: signals })) {
        if (event.kind === 'text') text += event.text;
        if (text.length > ANSWER_CHARS_MAX) break;
      }
      return text;
    } finally {
      cancel();
    }
  }

  async #warm(messages: readonly ChatMessage[], signal: AbortSignal): Promise<void> {
    const request = { messages, tools: this.#tools, signal };
    // Whatever is wrong with the model, the first answer will tell.
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
