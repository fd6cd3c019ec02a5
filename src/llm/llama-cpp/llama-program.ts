/** Location of node-llama-cpp, llama.cpp's prebuilt npm package, the command that installs it, and how many answers fit into memory. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The version that the code has been tried with. */
const VERSION = '3.22.1';

/** Whether node-llama-cpp lies in the folder. */
export function isLlamaInstalled(folder: string): boolean {
  return existsSync(llamaModuleFile(folder));
}

/** The file that the module begins with. */
export function llamaModuleFile(folder: string): string {
  return join(folder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js');
}

/** Install command for people to copy. */
export function installCommand(folder: string): string {
  return ['npm', ...installWords(folder)].join(' ');
}

/** Arguments of npm. Without `--omit=optional` it would fetch the builds for every graphics card: 725 MB in place of 85. */
export function installWords(folder: string): readonly string[] {
  const packages = ['node-llama-cpp', `@node-llama-cpp/${buildName()}`];
  const pinned = packages.map((name) => `${name}@${VERSION}`);
  return ['install', '--prefix', folder, '--omit=optional', '--ignore-scripts', ...pinned];
}

function buildName(): string {
  const { platform, arch } = process;
  if (platform === 'darwin') return arch === 'arm64' ? 'mac-arm64-metal' : 'mac-x64';
  const system = platform === 'win32' ? 'win' : 'linux';
  return `${system}-${arch === 'arm' ? 'armv7l' : arch}`;
}

/** Keys and values of one token: Qwen3 4B and 8B have 36 layers of 8 heads of 128 numbers, twice, in 16 bits; smaller ones less. */
const BYTES_A_TOKEN = 36 * 8 * 128 * 2 * 2;

/** Weights take their file's length, and the runtime's own memory. */
const WEIGHTS_FACTOR = 1.1;

/** Left to calls, recognisers, voices and the system. */
const MEMORY_SHARE = 0.75;

/** @returns at least 1: a model that is too large then fails to load, with an error that says so. */
export function callsThatFit(machine: {
  readonly memoryBytes: number;
  readonly fileBytes: number;
  readonly contextTokens: number;
  readonly callsMax: number;
}): number {
  const { memoryBytes, fileBytes, contextTokens, callsMax } = machine;
  const room = memoryBytes * MEMORY_SHARE - fileBytes * WEIGHTS_FACTOR;
  const fitting = Math.floor(room / (contextTokens * BYTES_A_TOKEN));
  return Math.max(1, Math.min(callsMax, fitting));
}
