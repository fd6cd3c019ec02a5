/** Installs llama.cpp for the GGUF file of a download, with npm. */
import { spawn } from 'node:child_process';
import { installCommand, installWords, isLlamaInstalled } from '../llm/llama-cpp/llama-program.ts';
import { ModelsError } from '../model-store/models-error.ts';
import { plainText, type Screen } from '../model-store/progress.ts';

/** 85 MB over a slow line. */
const INSTALL_MS_MAX = 15 * 60_000;

const REASON_CHARACTERS_MAX = 300;

/**
 * Installs llama.cpp where it is missing. npm checks its packages against the registry's checksums; nothing is built.
 *
 * @throws {ModelsError} `network` with npm's last line and the command to run by hand; `cancelled`.
 */
export async function installLlama(
  folder: string,
  { screen, signal }: { readonly screen: Screen; readonly signal: AbortSignal },
): Promise<void> {
  if (isLlamaInstalled(folder)) {
    screen.write(`${screen.paint('green', 'ok')}  llama.cpp  was there\n`);
    return;
  }
  screen.write(`llama.cpp: ${installCommand(folder)}\n`);
  const how = await runNpm([...installWords(folder), '--no-audit', '--no-fund'], signal);
  if (signal.aborted) throw new ModelsError('cancelled', 'Stopped');
  if (how !== null || !isLlamaInstalled(folder)) {
    const why = plainText(how ?? 'npm installed something else').slice(0, REASON_CHARACTERS_MAX);
    throw new ModelsError(
      'network',
      `Cannot install llama.cpp into "${folder}": ${why}; run "${installCommand(folder)}", then the same command again`,
    );
  }
  screen.write(`${screen.paint('green', 'ok')}  llama.cpp  installed\n`);
}

/** @returns null, or the last error line of npm. */
function runNpm(words: readonly string[], signal: AbortSignal): Promise<string | null> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(INSTALL_MS_MAX)]);
  const child = spawn('npm', words, { stdio: ['ignore', 'ignore', 'pipe'], signal: limit });
  const { promise, resolve } = Promise.withResolvers<string | null>();
  let last = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    const lines = text.split('\n').filter((line) => /error|ERR/.test(line));
    last = lines.at(-1) ?? last;
  });
  child.once('error', (error) => resolve(`npm does not run: ${error.message}`));
  child.once('close', (status, cause) =>
    resolve(status === 0 ? null : last || `npm ended with ${cause ?? status}`),
  );
  return promise;
}
