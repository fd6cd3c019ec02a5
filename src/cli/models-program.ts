/** Options of the command that downloads models; `models.ts` runs it, and the reference is written from it. */
import { Command, Option } from 'commander';
import { MODEL_PROFILES, type ModelProfile } from '../domain/model-downloads.ts';

const HELP = `
Settings come from the environment and .env, as for the server: MODELS_DIR, MODELS_PROFILE, MODELS_BASE_URL (a mirror),
HF_TOKEN, OLLAMA_HOST, and the proxy variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY. docs/models.md says more.
Exit status: 0 done, 1 could not be done, 2 wrong usage, 3 a file is not what it should be, 75 no answer or busy: try
again later, 78 wrong settings, 130 stopped (the same command goes on where it stopped).`;

/** The options as given. */
export interface ModelsOptions {
  readonly profile?: ModelProfile;
  readonly only: readonly string[];
  readonly list?: true;
  readonly check?: true;
  readonly offlineBundle?: string;
  readonly fromBundle?: string;
  readonly allowUnverified?: true;
  readonly manifest?: string;
  readonly selfTest: boolean;
}

/** @param run is called with the options once the program has parsed its arguments. */
export function modelsProgram(run: (words: ModelsOptions) => Promise<void>): Command {
  const collected = (id: string, before: readonly string[]) => [...before, ...id.split(',')];
  return new Command('models')
    .description('Downloads the models that Offhook hears, thinks and speaks with.')
    .usage('[options]  (npm run models -- [options])')
    .addOption(new Option('--profile <name>', 'how much').choices(MODEL_PROFILES))
    .option('--only <id>', 'this model and no other; may be given more than once', collected, [])
    .option('--list', 'show the models there are, and download nothing')
    .option('--check', 'read what is there and compare checksums, and download nothing')
    .option('--offline-bundle <file>', 'make one archive for a machine without internet')
    .option('--from-bundle <file>', 'unpack such an archive, and download nothing')
    .option('--allow-unverified', 'also take files without any known checksum')
    .option('--manifest <file>', 'another list of models, in the form of models/manifest.json')
    .option('--no-self-test', 'do not try the models at the end')
    .addHelpText('after', HELP)
    .exitOverride()
    .allowExcessArguments(false)
    .action(run);
}
