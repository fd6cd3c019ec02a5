/** The part of `node-llama-cpp` that is used here, and how it is found where an operator has installed it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ChatItem } from './llama-history.ts';

/** Of the module's own types, what is used of them. @see node-llama-cpp 3.22, `LlamaChat` */
export interface LlamaModule {
  getLlama(options: object): Promise<Llama>;
  readonly LlamaChat: new (options: { readonly contextSequence: LlamaSequence }) => LlamaChat;
}

export interface Llama {
  loadModel(options: { readonly modelPath: string }): Promise<LlamaWeights>;
  createGrammarForJsonSchema(schema: object): Promise<object>;
  dispose(): Promise<void>;
}

export interface LlamaWeights {
  /** The longest prompt that the model has learned to read. */
  readonly trainContextSize: number;
  createContext(options: {
    readonly sequences: number;
    readonly contextSize: number;
    readonly batchSize: number;
    readonly threads: number;
    readonly flashAttention: boolean;
  }): Promise<LlamaContext>;
}

export interface LlamaContext {
  getSequence(): LlamaSequence;
}

export interface LlamaSequence {
  readonly contextTokens: readonly unknown[];
  readonly tokenMeter: { readonly usedOutputTokens: number };
}

export interface LlamaChat {
  readonly sequence: LlamaSequence;
  generateResponse(history: readonly ChatItem[], options: object): Promise<LlamaAnswer>;
  loadChatAndCompleteUserMessage(history: readonly ChatItem[], options: object): Promise<unknown>;
}

export interface LlamaAnswer {
  readonly functionCalls?: readonly { readonly functionName: string; readonly params: unknown }[];
}

/** The version that the code has been tried with. */
const VERSION = '3.22.1';

/** The file that the module begins with. */
function moduleFile(folder: string): string {
  return join(folder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js');
}

/**
 * Loads the module out of a folder of its own, so that a server without it is 85 MB smaller.
 *
 * @throws {Error} with the command that installs it.
 */
export async function importLlama(folder: string): Promise<LlamaModule> {
  const file = moduleFile(folder);
  if (!existsSync(file)) {
    throw new Error(`node-llama-cpp is not installed; run "${installCommand(folder)}"`);
  }
  return (await import(pathToFileURL(file).href)) as LlamaModule;
}

/** Without `--omit=optional` npm would fetch the builds for every graphics card: 725 MB. */
export function installCommand(folder: string): string {
  const build = `@node-llama-cpp/${buildName()}`;
  return `npm install --prefix ${folder} --omit=optional --ignore-scripts node-llama-cpp@${VERSION} ${build}@${VERSION}`;
}

function buildName(): string {
  const { platform, arch } = process;
  if (platform === 'darwin') return arch === 'arm64' ? 'mac-arm64-metal' : 'mac-x64';
  const system = platform === 'win32' ? 'win' : 'linux';
  return `${system}-${arch === 'arm' ? 'armv7l' : arch}`;
}
