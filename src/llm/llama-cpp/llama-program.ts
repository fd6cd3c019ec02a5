/** llama.cpp as npm has it, built: where it lies, and the command that installs it. */
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

/** For people to copy. */
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
