/** The way on after a secret is lost: `admin forget-secrets` for the key of the sealed passwords, `admin operator` for the dashboard's password. */
import type { Command } from 'commander';
import { PASSWORD_SECRET } from '../operator/operator-password.ts';
import { openDatabase } from '../store/sqlite/database.ts';
import { sealAgain } from '../store/sqlite/sealed-columns.ts';
import { openBox } from '../store/sqlite/secrets-key.ts';
import {
  atDesk,
  type Console,
  type Desk,
  existingDatabaseFile,
  patiently,
  type Result,
  showing,
} from './admin-command.ts';

export function addForgetCommand(root: Command, console: Console): void {
  const forget = root
    .command('forget-secrets')
    .description(
      'empties passwords and headers of trunks, calendars, tools, MCP servers and SMS gateways that no key opens, after secrets.key or SECRETS_KEY was lost',
    );
  showing(forget, console, () => forgetSecrets(console));
}

async function forgetSecrets(console: Console): Promise<Result> {
  const config = console.config();
  const file = existingDatabaseFile(config);
  const { database } = await openDatabase({ file, mayMigrate: false });
  try {
    const box = openBox(file, config.SECRETS_KEY);
    const forgotten = await patiently(() => sealAgain(database, box, { forget: true }));
    const text =
      forgotten.length === 0
        ? 'Nothing to forget: every secret can be opened.'
        : `Forgotten, to be set again: ${forgotten.join(', ')}.`;
    return { text, json: { forgotten } };
  } finally {
    database.close();
  }
}

/** `admin operator …`: the one who signs in to the dashboard. */
export function addOperatorCommands(root: Command, console: Console): void {
  const operator = root.command('operator').description('the password of the dashboard');
  const command = operator
    .command('reset')
    .description(
      'forgets the password; the next start of the server prints a link that sets a new one',
    );
  atDesk(command, console, reset);
}

/** A server that runs ends its sessions by itself: theirs is no longer the password. */
async function reset({ store }: Desk): Promise<Result> {
  const { secrets } = store;
  const known = await secrets.find(PASSWORD_SECRET);
  const wasSet = known !== undefined;
  if (!(await patiently(() => secrets.exchange(PASSWORD_SECRET, known, undefined)))) {
    throw new Error('Cannot forget the password: it was changed at the same moment; try again');
  }
  const news = wasSet
    ? 'The password is forgotten, and everybody is signed out.'
    : 'There was no password.';
  const text = `${news}\nStart the server again: it prints a link that sets one.`;
  return { text, json: { wasSet } };
}
