/** A language model that speaks Ollama's protocol and answers the last message as the test says. */
import { PROTOCOLS, startToolCallingModel } from './tool-calling-model.ts';

/** What was said last in a call: by the caller, the agent or a tool. */
export interface LastMessage {
  readonly role: string;
  readonly content: string;
}

/** An answer of the model: words, or one call of a tool. */
export type ScriptedAnswer =
  | { readonly content: string }
  | { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> };

/** Starts one that ends with the test. @returns settings of a server that uses it. */
export function startScriptedOllama(
  answerTo: (last: LastMessage) => ScriptedAnswer,
): Promise<Readonly<Record<string, string>>> {
  return startToolCallingModel(PROTOCOLS.ollama, (messages) => {
    const { role = 'user', content } = messages.at(-1) ?? {};
    const answer = answerTo({ role, content: content ?? '' });
    return 'content' in answer
      ? { kind: 'says', text: answer.content }
      : { kind: 'calls', calls: [{ name: answer.tool, arguments: answer.arguments }] };
  });
}
