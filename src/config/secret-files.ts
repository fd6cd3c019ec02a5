/** Secrets among the settings, given as a variable or, as containers have them, in a file that `NAME_FILE` names. */
import { readFileSync } from 'node:fs';
import { messageOf } from '../lib/unknown-value.ts';

/** Says which settings are wrong and what is allowed; the process ends with 78 (EX_CONFIG). */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Variables that hold a secret: masked by `--print-config`, and readable from a file by `NAME_FILE`. */
export const SECRETS: ReadonlySet<string> = new Set([
  'BOOTSTRAP_LIVE_KEY',
  'BOOTSTRAP_TEST_KEY',
  'WEBHOOK_SIGNING_SECRET',
  'SECRETS_KEY',
  'DRACHTIO_SECRET',
  'FREESWITCH_SECRET',
  'OPENAI_API_KEY',
  'KNOWLEDGE_EMBEDDINGS_API_KEY',
  'STT_API_KEY',
  'TTS_API_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'HF_TOKEN',
]);

/**
 * Adds the text of `NAME_FILE` under `NAME` for every secret that is given by file. An empty variable counts as not
 * given, both of `NAME` and of `NAME_FILE`: files of settings have many of them.
 *
 * @throws {ConfigError} when the file cannot be read, or is empty.
 */
export function withSecretFiles(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const merged = { ...environment };
  for (const name of SECRETS) {
    const file = environment[`${name}_FILE`];
    if (isMissing(file) || !isMissing(merged[name])) continue;
    merged[name] = readSecret(`${name}_FILE`, file);
  }
  return merged;
}

function isMissing(value: string | undefined): value is '' | undefined {
  return value === undefined || value === '';
}

/** An empty file is a secret that has not arrived: without an error a secret of our own would take its place. */
function readSecret(variable: string, file: string): string {
  try {
    const secret = readFileSync(file, 'utf8').trim();
    if (secret === '') throw new Error('it is empty');
    return secret;
  } catch (error) {
    throw new ConfigError(`Cannot read ${variable} "${file}": ${messageOf(error)}`, {
      cause: error,
    });
  }
}
