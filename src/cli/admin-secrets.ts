/** `admin forget-secrets`: the way on after the key of the sealed passwords is lost. */
import type { Command } from 'commander';
import { openDatabase } from '../store/sqlite/database.ts';
import { sealAgain } from '../store/sqlite/sealed-columns.ts';
import { openBox } from '../store/sqlite/secrets-key.ts';
import {
  type Console,
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
