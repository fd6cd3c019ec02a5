/** Tools of one call: validates arguments, limits time, returns every outcome as text for the model. */

import { AGENT_TOOLS } from '../domain/agent/agent-rules.ts';
import { argumentFaults } from '../domain/tool/argument-schema.ts';
import { type Clock, TimeLimit, unlessAborted } from '../lib/clock.ts';
import type { ToolCall, ToolDescription } from '../llm/language-model.ts';
import { CollectedDigits, createCollectDigits, sendDigits } from './keypad-tools.ts';
import {
  endCall,
  RESULT_LENGTH_MAX,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from './tool.ts';
import { createTransferCall, type TransferRules } from './transfer-call.ts';

/** Time limit of a tool without its own: a caller does not wait longer. */
const TIMEOUT_MS = 10_000;

const MALFORMED =
  'Not done: the arguments were not a JSON object. Call the tool again with arguments that are one.';

interface RunOptions {
  readonly context: ToolContext;
  readonly signal: AbortSignal;
  readonly onLate: (outcome: ToolOutcome) => void;
}

/** The tools of one call, by name; runs them within their time limits. */
export class Toolbox {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #clock: Clock;
  readonly #collected: CollectedDigits;

  /** @param options.collected digits for tools that may use them; none unless given. */
  constructor(options: {
    readonly tools: readonly Tool[];
    readonly clock: Clock;
    readonly collected?: CollectedDigits;
  }) {
    const { tools, clock, collected = new CollectedDigits() } = options;
    this.#tools = new Map(tools.map((tool) => [tool.description.name, tool]));
    this.#clock = clock;
    this.#collected = collected;
  }

  /** Descriptions of the tools for the model. */
  get descriptions(): readonly ToolDescription[] {
    return [...this.#tools.values()].map(({ description }) => description);
  }

  /**
   * Whether a tool call waits until the words said along with it have been heard. A refused call does not wait, so that no
   * impossible transfer is announced.
   */
  isAfterWords(call: ToolCall): boolean {
    const tool = this.#tools.get(call.name);
    return tool?.isAfterWords === true && this.#isTaken(tool, call);
  }

  /** Whether a call takes keys of the caller; a refused call takes none. */
  takesKeys(call: ToolCall): boolean {
    const tool = this.#tools.get(call.name);
    return tool?.takesKeys === true && this.#isTaken(tool, call);
  }

  /** Whether there is a tool that takes keys. */
  get hasKeypad(): boolean {
    return [...this.#tools.values()].some(({ takesKeys }) => takesKeys);
  }

  /** Whether a call is carried out only for words of the caller that are sure; a refused call is not carried out at all. */
  needsSureWords(call: ToolCall): boolean {
    const tool = this.#tools.get(call.name);
    return tool?.needsSureWords === true && this.#isTaken(tool, call);
  }

  /** Phrase for the caller while a call runs; undefined for the set phrase. */
  sayWhileWaiting(call: ToolCall): string | undefined {
    return this.#tools.get(call.name)?.sayWhileWaiting;
  }

  /**
   * Runs a tool. Never rejects: the outcome tells the model what went wrong. Collected digits are hidden from the model.
   *
   * @param onLate receives the outcome of a tool that was aborted, and was brought to its end all the same.
   */
  async run(
    call: ToolCall,
    context: ToolContext,
    signal: AbortSignal,
    onLate: (outcome: ToolOutcome) => void = () => undefined,
  ): Promise<ToolOutcome> {
    const tool = this.#tools.get(call.name);
    if (tool === undefined) return { text: this.#unavailable(call.name) };
    if (call.isMalformed === true) return { text: MALFORMED };
    const given = { context, signal, onLate: (late: ToolOutcome) => onLate(this.#shown(late)) };
    return this.#shown(await this.#run(tool, this.#filled(tool, call), given));
  }

  #shown({ text, problem, ...rest }: ToolOutcome): ToolOutcome {
    const shown = problem === undefined ? {} : { problem: this.#collected.hide(problem) };
    // Hidden before it is cut: the beginning of a number at the cut would be shown.
    return { ...rest, text: this.#collected.hide(text).slice(0, RESULT_LENGTH_MAX), ...shown };
  }

  async #run(
    tool: Tool,
    args: ToolCall['arguments'],
    { context, signal, onLate }: RunOptions,
  ): Promise<ToolOutcome> {
    const refusal = refusalOf(tool, args);
    if (refusal !== undefined) return { text: refusal };

    const limitMs = tool.timeoutMs ?? TIMEOUT_MS;
    using limit = new TimeLimit(this.#clock, limitMs, { signal, reason: 'it took too long' });
    let work: Promise<ToolOutcome> | undefined;
    try {
      limit.signal.throwIfAborted();
      work = tool.run(args, context, limit.signal);
      return await unlessAborted(work, limit.signal);
    } catch (error) {
      if (limit.isOver) return lateOutcome(tool, limitMs);
      // A tool that has failed as well has nothing to tell.
      if (signal.aborted) void work?.then(onLate, () => undefined);
      // The error's own words may hold a number that neither model nor timeline is to know.
      const text = 'Not done: it was refused or failed. Tell the caller that it did not work.';
      return {
        text,
        problem: `refused or failed (${error instanceof Error ? error.name : 'no error'})`,
      };
    }
  }

  #isTaken(tool: Tool, call: ToolCall): boolean {
    if (call.isMalformed === true) return false;
    return refusalOf(tool, this.#filled(tool, call)) === undefined;
  }

  /** The arguments with collected digits in their places, for tools that may use them. */
  #filled(tool: Tool, call: ToolCall): ToolCall['arguments'] {
    if (tool.mayUseCollected !== true) return call.arguments;
    return this.#collected.fill(call.arguments) as ToolCall['arguments'];
  }

  #unavailable(name: string): string {
    const isKnown = (AGENT_TOOLS as readonly string[]).includes(name);
    const state = isKnown ? 'is not available here' : 'does not exist';
    return `Not done: "${String(name).slice(0, 60)}" ${state}. Do not say that it was done.`;
  }
}

/**
 * Fills the toolbox of one call with the tools that the agent lists and this server offers. `end_call` is always in it:
 * every agent may say goodbye.
 */
export function toolboxFor(options: {
  readonly names: readonly string[];
  readonly transferRules: TransferRules;
  /** Tools that need more than the line: custom tools, `send_sms`, calendar tools; none unless given. */
  readonly callTools?: readonly Tool[];
  readonly clock: Clock;
}): Toolbox {
  const { names, transferRules, callTools = [], clock } = options;
  const collected = new CollectedDigits();
  const tools: Tool[] = [...callTools, endCall];
  if (names.includes('transfer_call')) tools.unshift(createTransferCall(transferRules));
  if (names.includes('send_digits')) tools.unshift(sendDigits);
  if (names.includes('collect_digits')) tools.unshift(createCollectDigits(collected));
  return new Toolbox({ tools, clock, collected });
}

function lateOutcome({ lateText }: Tool, limitMs: number): ToolOutcome {
  const notDone = 'Not done: it took too long. Tell the caller that it did not work.';
  return { text: lateText ?? notDone, problem: `no answer within ${limitMs / 1000} seconds` };
}

/** Why a call is refused before it is made, for the model. */
function refusalOf(tool: Tool, args: ToolCall['arguments']): string | undefined {
  const faults = argumentFaults(args, tool.description.parameters);
  return faults.length > 0 ? `Not done: ${faults.join('; ')}.` : tool.refusal?.(args);
}
