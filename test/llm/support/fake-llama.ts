/** A stand-in for node-llama-cpp in a folder of its own, as an operator would install it: the same exports, no weights. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Answers by what the caller said last: "person" calls a tool, "crash" dies, "hang" says one word and no more. */
const MODULE = `
const words = ['We ', 'open ', 'at ', 'nine.'];
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export class LlamaChat {
  constructor({ contextSequence }) { this.sequence = contextSequence; }
  async generateResponse(history, options) {
    options.signal.throwIfAborted();
    const said = history.filter(({ type }) => type === 'user').at(-1)?.text ?? '';
    this.sequence.contextTokens = Array.from(JSON.stringify(history));
    if (said.includes('crash')) process.kill(process.pid, 'SIGKILL');
    if (said.includes('hang')) {
      options.onTextChunk('Well, ');
      await new Promise((_, reject) => {
        options.signal.addEventListener('abort', () => reject(options.signal.reason));
      });
    }
    if (said.includes('what was said')) { options.onTextChunk(JSON.stringify(history)); return {}; }
    if (options.grammar) { options.onTextChunk('{"intent":'); options.onTextChunk('"booking"}'); return {}; }
    if (options.functions && said.includes('person')) {
      options.onTextChunk('One moment.');
      return { functionCalls: [{ functionName: 'transfer_call', params: { destination: 'sales' } }] };
    }
    for (const word of words) {
      await wait(5);
      if (options.signal.aborted) return {};
      options.onTextChunk(word);
      this.sequence.tokenMeter.usedOutputTokens += 1;
      this.sequence.contextTokens.push(word);
    }
    return {};
  }
  async loadChatAndCompleteUserMessage(history, { maxTokens }) {
    if (maxTokens !== 0) throw new Error('it would write');
    this.sequence.contextTokens = Array.from(JSON.stringify(history));
  }
}
export const getLlama = async ({ build, skipDownload }) => {
  if (build !== 'never' || !skipDownload) throw new Error('it would fetch something');
  return {
    loadModel: async ({ modelPath }) => {
      if (modelPath.includes('damaged')) throw new Error('not a GGUF file\\nat native code');
      return {
        trainContextSize: 2048,
        createContext: async ({ sequences }) => {
          let left = sequences;
          return { getSequence: () => {
            if (left-- === 0) throw new Error('no sequences left');
            return { contextTokens: [], tokenMeter: { usedOutputTokens: 0 } };
          } };
        },
      };
    },
    createGrammarForJsonSchema: async (schema) => ({ schema }),
    dispose: async () => undefined,
  };
};
`;

/** @returns the folder, and in it a file that passes for weights by the given name. */
export function installFakeLlama(weights = 'fake.gguf'): { folder: string; file: string } {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-llama-'));
  const home = join(folder, 'node_modules', 'node-llama-cpp');
  mkdirSync(join(home, 'dist'), { recursive: true });
  writeFileSync(join(home, 'package.json'), '{"type":"module"}');
  writeFileSync(join(home, 'dist', 'index.js'), MODULE);
  const file = join(folder, weights);
  writeFileSync(file, 'GGUF');
  return { folder, file };
}
