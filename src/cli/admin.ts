/** The operator's commands: `npm run admin -- …`. Works on the server's database, whether the server runs or not. */
import { Command, CommanderError } from 'commander';
import { ConfigError, readProcessConfig } from '../config/config.ts';
import { addAccountCommands } from './admin-accounts.ts';
import { addBackupCommands } from './admin-backup.ts';
import { type Console, UsageError } from './admin-command.ts';
import { addEraseCommands } from './admin-erase.ts';
import { addKeyCommands } from './admin-keys.ts';
import { addNumberCommands } from './admin-numbers.ts';
import { addOperatorCommands } from './admin-operator.ts';
import { addSecretCommands } from './admin-secrets.ts';
import { addWebhookCommands } from './admin-webhooks.ts';

const EXIT_FAILED = 1;

const EXIT_USAGE = 2;

/** EX_CONFIG of sysexits.h: the settings are wrong. */
const EXIT_CONFIG = 78;

const HELP = `
Every command takes --json. Settings come from the environment and .env, as for the server.
Exit status: 0 done, 1 could not be done, 2 wrong usage, 78 wrong settings.`;

const terminal: Console = {
  print: (text) => console.log(text),
  progress: (text) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${text}\u001b[K`);
  },
  config: readProcessConfig,
};

function program(): Command {
  const root = new Command('admin')
    .description('Manages an Offhook installation: accounts, keys, webhooks, backups.')
    .usage('<command>  (npm run admin -- <command>)')
    .addHelpText('after', HELP)
    .exitOverride();
  addAccountCommands(root, terminal);
  addKeyCommands(root, terminal);
  addNumberCommands(root, terminal);
  addWebhookCommands(root, terminal);
  addSecretCommands(root, terminal);
  addOperatorCommands(root, terminal);
  addEraseCommands(root, terminal);
  addBackupCommands(root, terminal);
  return root;
}

/** Says what went wrong, and gives the exit status. Commander has told of its own errors already. */
function statusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  console.error(error instanceof Error ? error.message : String(error));
  if (error instanceof UsageError) return EXIT_USAGE;
  return error instanceof ConfigError ? EXIT_CONFIG : EXIT_FAILED;
}

try {
  await program().parseAsync();
} catch (error) {
  process.exitCode = statusOf(error);
}
