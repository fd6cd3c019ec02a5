/** The operator's command that downloads models: `npm run models -- …`. */
import { readFile } from 'node:fs/promises';
import { styleText } from 'node:util';
import { Command, CommanderError, Option } from 'commander';
import { EnvHttpProxyAgent } from 'undici';
import { type Preparation, prepareModels } from '../../models/prepare/prepare-models.ts';
import { type Config, ConfigError, readProcessConfig } from '../config/config.ts';
import { systemClock } from '../lib/clock.ts';
import { makeBundleRun, takeBundleRun } from '../model-store/bundle.ts';
import { DEFAULT_LIMITS } from '../model-store/download-file.ts';
import { fetchModels } from '../model-store/download-models.ts';
import { HttpSource } from '../model-store/http-source.ts';
import {
  loadManifest,
  type Manifest,
  type Model,
  modelsOf,
  PROFILES,
  type Profile,
} from '../model-store/manifest.ts';
import { checkRun, listRun, useText } from '../model-store/model-files.ts';
import { lockFolder } from '../model-store/model-lock.ts';
import { diskError, ModelsError, type ModelsFailure } from '../model-store/models-error.ts';
import { plainText, type Screen } from '../model-store/progress.ts';
import { whisperEngine } from '../speech/stt/recognizer-engines.ts';
import { sileroEngine } from '../speech/vad/silero/silero-engine.ts';

const PACKAGE = new URL('../../package.json', import.meta.url);

/** Its token goes there and nowhere else. */
const TOKEN_ORIGIN = 'https://huggingface.co';

/** EX_CONFIG and EX_TEMPFAIL of sysexits.h. */
const EXIT = { failed: 1, usage: 2, wrong: 3, tempFail: 75, config: 78, interrupted: 130 } as const;

const EXIT_OF: Readonly<Record<ModelsFailure, number>> = {
  usage: EXIT.usage,
  network: EXIT.tempFail,
  busy: EXIT.tempFail,
  refused: EXIT.failed,
  'disk-full': EXIT.failed,
  disk: EXIT.failed,
  unverified: EXIT.wrong,
  'wrong-content': EXIT.wrong,
  cancelled: EXIT.interrupted,
};

const HELP = `
Settings come from the environment and .env, as for the server: MODELS_DIR, MODELS_PROFILE, MODELS_BASE_URL (a mirror),
HF_TOKEN, OLLAMA_HOST, and the proxy variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY. docs/models.md says more.
Exit status: 0 done, 1 could not be done, 2 wrong usage, 3 a file is not what it should be, 75 no answer or busy: try
again later, 78 wrong settings, 130 stopped (the same command goes on where it stopped).`;

interface Words {
  readonly profile?: Profile;
  readonly only: readonly string[];
  readonly list?: true;
  readonly check?: true;
  readonly offlineBundle?: string;
  readonly fromBundle?: string;
  readonly allowUnverified?: true;
  readonly manifest?: string;
}

const screen: Screen = {
  isTerminal: process.stdout.isTTY === true,
  // Some terminals say 0: they do not know.
  columns: process.stdout.columns || 80,
  write: (text) => process.stdout.write(text),
  // Obeys NO_COLOR, and colours nothing where it is not a terminal.
  paint: (style, text) => styleText(style, text, { stream: process.stdout }),
};

function program(run: (words: Words) => Promise<void>): Command {
  const collected = (id: string, before: readonly string[]) => [...before, ...id.split(',')];
  return new Command('models')
    .description('Downloads the models that Offhook hears, thinks and speaks with.')
    .usage('[options]  (npm run models -- [options])')
    .addOption(new Option('--profile <name>', 'how much').choices(PROFILES))
    .option('--only <id>', 'this model and no other; may be given more than once', collected, [])
    .option('--list', 'show the models there are, and download nothing')
    .option('--check', 'read what is there and compare checksums, and download nothing')
    .option('--offline-bundle <file>', 'make one archive for a machine without internet')
    .option('--from-bundle <file>', 'unpack such an archive, and download nothing')
    .option('--allow-unverified', 'also take files without any known checksum')
    .option('--manifest <file>', 'another list of models, in the form of models/manifest.json')
    .addHelpText('after', HELP)
    .exitOverride()
    .allowExcessArguments(false)
    .action(run);
}

/** Parameters of all runs. */
interface Desk {
  readonly config: Config;
  readonly manifest: Manifest;
  readonly manifestText: string;
  readonly models: readonly Model[];
  readonly signal: AbortSignal;
}

async function run(words: Words, signal: AbortSignal): Promise<void> {
  const config = readProcessConfig();
  const { manifest, text: manifestText } = await loadManifest(words.manifest);
  const profile = words.profile ?? config.MODELS_PROFILE;
  const models = modelsOf(manifest, { profile, only: words.only });
  const desk = { config, manifest, manifestText, models, signal };
  const modelsDir = config.MODELS_DIR;
  if (words.list) return listRun(manifest, { modelsDir, screen });
  if (words.check) return check(desk);
  if (words.fromBundle !== undefined) return unpack(words.fromBundle, desk);
  await fetch(words, desk);
}

async function check({ config, models, signal }: Desk): Promise<void> {
  const modelsDir = config.MODELS_DIR;
  const state = await checkRun(models, { modelsDir, screen, signal });
  if (state !== 'right') process.exitCode = state === 'wrong' ? EXIT.wrong : EXIT.failed;
}

async function unpack(bundle: string, { config, manifest, models, signal }: Desk): Promise<void> {
  const modelsDir = config.MODELS_DIR;
  await takeBundleRun({ bundle, modelsDir, manifest, screen, clock: systemClock, signal });
  await prepare(modelsDir);
  sayNextStart(config, models);
}

async function fetch(words: Words, desk: Desk): Promise<void> {
  const { config, models, signal } = desk;
  const dispatcher = new EnvHttpProxyAgent({ allowH2: false });
  const { version } = JSON.parse(await readFile(PACKAGE, 'utf8'));
  const token = config.HF_TOKEN;
  try {
    const { failures, files } = await fetchModels({
      models,
      modelsDir: config.MODELS_DIR,
      mirror: config.MODELS_BASE_URL ?? null,
      ollamaHost: usesOllama(config) ? config.OLLAMA_HOST : null,
      source: new HttpSource({
        dispatcher,
        userAgent: `Offhook/${version}`,
        token: token === undefined ? null : { origin: TOKEN_ORIGIN, token },
      }),
      dispatcher,
      clock: systemClock,
      limits: DEFAULT_LIMITS,
      allowUnverified: words.allowUnverified === true,
      signal,
      screen,
    });
    if (failures.length > 0) return giveUp(failures);
    await prepare(config.MODELS_DIR);
    sayNextStart(config, models);
    if (words.offlineBundle === undefined) return;
    const { MODELS_DIR: modelsDir } = config;
    const bundle = words.offlineBundle;
    await makeBundleRun({ ...desk, bundle, modelsDir, files, screen, clock: systemClock });
  } finally {
    await dispatcher.destroy();
  }
}

/** Rewrites the graphs that the server would run slower as they are exported. */
async function prepare(modelsDir: string): Promise<void> {
  const lock = lockFolder(modelsDir);
  try {
    const preparations = await prepareModels(modelsDir);
    for (const line of preparations.flatMap(preparationLine)) screen.write(`${line}\n`);
  } catch (error) {
    throw diskError(error, modelsDir);
  } finally {
    lock.release();
  }
}

function preparationLine(preparation: Preparation): readonly string[] {
  const { kind, path } = preparation;
  switch (kind) {
    case 'prepared':
      return [
        `${screen.paint('green', 'prepared')}  ${path}${preparation.isNew ? '' : '  was there'}`,
      ];
    case 'not-possible':
      return [
        `${screen.paint('yellow', 'not prepared')}  ${path}: ${plainText(preparation.reason)}; the server runs it as it is, slower`,
      ];
    case 'not-needed':
      return [];
    default:
      return preparation satisfies never;
  }
}

function usesOllama({ LLM }: Config): boolean {
  return LLM === 'auto' || LLM.includes('ollama');
}

/** Names the models that the server will use. */
function sayNextStart(config: Config, models: readonly Model[]): void {
  const { MODELS_DIR } = config;
  const firstOf = { vad: sileroEngine.find(MODELS_DIR)[0], stt: whisperEngine.find(MODELS_DIR)[0] };
  const lines = [
    `At its next start the server looks for models in "${MODELS_DIR}":`,
    ...models.map((model) => `  ${model.name}: ${useText(model)}`),
    ...Object.entries(firstOf).flatMap(([job, path]) =>
      path === undefined ? [] : [`  ${job}: "${path}" comes first`],
    ),
    'GET /readyz and the log say which models are in use, and why.',
  ];
  screen.write(`${lines.join('\n')}\n`);
}

/** Prints the failures; the worst decides the exit status. */
function giveUp(failures: readonly ModelsError[]): void {
  for (const { message } of failures) process.stderr.write(`${plainText(message)}\n`);
  const worst = failures.map(({ failure }) => EXIT_OF[failure]);
  const order = [EXIT.interrupted, EXIT.wrong, EXIT.failed, EXIT.usage, EXIT.tempFail];
  process.exitCode = order.find((status) => worst.includes(status)) ?? EXIT.failed;
}

/** Commander prints its own errors. */
function statusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
  if (stopping.signal.aborted) return EXIT.interrupted;
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof ModelsError) return EXIT_OF[error.failure];
  return error instanceof ConfigError ? EXIT.config : EXIT.failed;
}

const stopping = new AbortController();
// A second one ends the process as it would any other: the first takes the handler away.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());

try {
  await program((words) => run(words, stopping.signal)).parseAsync();
} catch (error) {
  process.exitCode = statusOf(error);
}
