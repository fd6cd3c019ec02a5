/** A language model that sums up calls, or fails to. */
import type { LanguageModel, ModelEvent, ModelRequest } from '../../../src/llm/language-model.ts';

export const WINDOW_TOKENS = 2048;

/** Sums up at once, or what a test has it do. */
export class Summariser implements LanguageModel {
  readonly name = 'summariser';
  readonly contextTokens = WINDOW_TOKENS;
  readonly requests: ModelRequest[] = [];
  readonly warmed: ModelRequest[] = [];
  answer: string | Error | 'hang' = 'Anna Meyer wants an appointment on Monday.';

  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    this.requests.push(request);
    if (this.answer === 'hang') {
      await new Promise((_resolve, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason));
      });
    }
    if (this.answer instanceof Error) throw this.answer;
    yield { kind: 'text', text: String(this.answer) };
  }

  async warm(prefix: ModelRequest): Promise<boolean> {
    this.warmed.push(prefix);
    return true;
  }

  check(): Promise<void> {
    return Promise.resolve();
  }
}
