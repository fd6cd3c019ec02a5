/** The tree of the operator's commands; `admin.ts` runs it, and the reference is written from it. */
import { Command } from 'commander';
import { addAccountCommands } from './admin-accounts.ts';
import { addBackupCommands } from './admin-backup.ts';
import type { Console } from './admin-command.ts';
import { addCompletionCommand } from './admin-completion.ts';
import { addDoctorCommand } from './admin-doctor.ts';
import { addEraseCommands } from './admin-erase.ts';
import { addKeyCommands } from './admin-keys.ts';
import { addNumberCommands } from './admin-numbers.ts';
import { addForgetCommand } from './admin-secrets.ts';
import { addSelfTestCommand } from './admin-self-test.ts';
import { addSecretCommands } from './admin-signing-secrets.ts';
import { addTrunkCommands } from './admin-trunks.ts';
import { addWebhookCommands } from './admin-webhooks.ts';
import { addOperatorCommands, addUserCommands } from './users/admin-users.ts';

const HELP = `
Every command takes --json. Settings come from the environment and .env, as for the server.
Exit status: 0 done, 1 could not be done, 2 wrong usage, 78 wrong settings.`;

/** Makes the commands; nothing runs until the result parses arguments. */
export function adminProgram(console: Console): Command {
  const root = new Command('admin')
    .description(
      'Manages an Offhook installation: accounts, users, keys, trunks, webhooks, backups; tests its models.',
    )
    .usage('<command>  (npm run admin -- <command>)')
    .addHelpText('after', HELP)
    .exitOverride();
  addAccountCommands(root, console);
  addKeyCommands(root, console);
  addNumberCommands(root, console);
  addTrunkCommands(root, console);
  addForgetCommand(root, console);
  addWebhookCommands(root, console);
  addSecretCommands(root, console);
  addUserCommands(root, console);
  addOperatorCommands(root, console);
  addEraseCommands(root, console);
  addBackupCommands(root, console);
  addSelfTestCommand(root, console);
  addDoctorCommand(root, console);
  addCompletionCommand(root, console.print);
  return root;
}
