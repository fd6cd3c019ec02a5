/** A language model that is shown callers' words as data only, and of whose answers only words and offered tools pass. */

import {
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
  type ToolCall,
} from './language-model.ts';
import { ReasoningFilter } from './reasoning-filter.ts';
import { withUntrustedText } from './untrusted-text.ts';

/** What every model server takes for a tool's name. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

export class GuardedModel implements LanguageModel {
  readonly #model: LanguageModel;

  constructor(model: LanguageModel) {
    this.#model = model;
  }

  get name(): string {
    return this.#model.name;
  }

  get ignoresPrompts(): boolean | undefined {
    return this.#model.ignoresPrompts;
  }

  get contextTokens(): number | undefined {
    return this.#model.contextTokens;
  }

  /** @throws {LanguageModelError} also when the model thinks aloud and says nothing. */
  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    const said = new ReasoningFilter();
    let hasCalled = false;
    for await (const event of this.#model.stream(withUntrustedText(request))) {
      if (event.kind === 'text') {
        yield* textEvent(this.#push(said, event.text));
      } else if ((request.tools ?? []).length > 0) {
        hasCalled = true;
        yield { kind: 'tool-call', call: named(event.call) };
      }
    }
    yield* textEvent(said.flush());
    if (said.hasThought && !said.hasSaid && !hasCalled) throw this.#speechless();
  }

  async warm(prefix: ModelRequest): Promise<boolean> {
    return (await this.#model.warm?.(withUntrustedText(prefix))) ?? false;
  }

  check(): Promise<void> {
    return this.#model.check();
  }

  async stop(): Promise<void> {
    await this.#model.stop?.();
  }

  #push(said: ReasoningFilter, text: string): string {
    try {
      return said.push(text);
    } catch (error) {
      throw this.#speechless(error);
    }
  }

  #speechless(cause?: unknown): LanguageModelError {
    return new LanguageModelError(
      `Cannot get an answer from "${this.name}": it only thinks aloud; switch its thinking off`,
      { cause },
    );
  }
}

function* textEvent(text: string): Iterable<ModelEvent> {
  if (text !== '') yield { kind: 'text', text };
}

/** A name that no tool can have goes on as one that no tool has: the toolbox tells the model so. */
function named(call: ToolCall): ToolCall {
  return TOOL_NAME.test(call.name) ? call : { ...call, name: 'unknown' };
}
