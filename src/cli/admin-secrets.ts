/** `admin secret …`: the secrets that webhook deliveries are signed with; `admin forget-secrets`: the way on after the key of sealed passwords is lost. */
import type { Command } from 'commander';
import type { Environment, SigningSecrets } from '../domain/account/account.ts';
import { newSigningSecret } from '../domain/account/api-key.ts';
import type { Scope } from '../domain/agent/agent.ts';
import { openDatabase } from '../store/sqlite/database.ts';
import { openBox, sealAgain } from '../store/sqlite/sealed-columns.ts';
import {
  accountOf,
  atDesk,
  type Console,
  type Desk,
  environmentOption,
  existingDatabaseFile,
  patiently,
  type Result,
  showing,
} from './admin-command.ts';

interface SecretOptions {
  readonly account?: string;
  readonly environment: Environment;
  readonly show?: boolean;
}

export function addSecretCommands(root: Command, console: Console): void {
  const secret = root.command('secret').description('signing secrets of webhooks');
  const add = (
    name: string,
    description: string,
    news: string,
    work: (scope: Scope, desk: Desk) => Promise<SigningSecrets>,
  ) => {
    const command = secret.command(name).description(description);
    command.option('--account <id>', 'whose; may be left out where there is only one');
    command.requiredOption('--environment <name>', 'live or test', environmentOption);
    command.option('--show', 'show the secret itself');
    atDesk<SecretOptions>(command, console, async (desk, options) => {
      const { id: accountId } = await accountOf(desk, options.account);
      const scope = { accountId, environment: options.environment };
      const secrets = await patiently(() => work(scope, desk));
      return resultOf(news, accountId, { secrets, options });
    });
  };
  add(
    'show',
    'shows the current secret, the prepared one and the previous one',
    '',
    async ({ accountId, environment }, { store, now }) => {
      const secrets = await store.accounts.signingSecrets(accountId, environment, now);
      if (secrets !== undefined) return secrets;
      throw new Error(`The account "${accountId}" has no signing secret`);
    },
  );
  add(
    'prepare',
    'makes a new secret, which signs in addition to the current one',
    'A new secret is prepared. Give it to the receivers, then run "secret activate".',
    (scope, { store, random, now }) =>
      store.accounts.prepareSigningSecret(scope, newSigningSecret(random), now),
  );
  add(
    'activate',
    'makes the prepared secret the current one; the old one signs for 24 h',
    'The prepared secret is the current one.',
    (scope, { store, now }) => store.accounts.activateSigningSecret(scope, now),
  );
  add(
    'drop-prepared',
    'ends the prepared secret',
    'There is no prepared secret now.',
    (scope, { store, now }) => store.accounts.dropSigningSecret(scope, 'prepared', now),
  );
  add(
    'drop-previous',
    'ends the previous secret before its 24 h are over',
    'There is no previous secret now.',
    (scope, { store, now }) => store.accounts.dropSigningSecret(scope, 'previous', now),
  );
}

function resultOf(
  news: string,
  accountId: string,
  { secrets, options }: { secrets: SigningSecrets; options: SecretOptions },
): Result {
  const shown = (secret: string | null) =>
    secret === null || options.show ? secret : masked(secret);
  const json = {
    accountId,
    environment: options.environment,
    signingSecret: shown(secrets.current),
    preparedSecret: shown(secrets.prepared),
    previousSecret: shown(secrets.previous),
    previousValidUntil: secrets.previousUntil,
  };
  const lines = [
    news,
    `signing secret (${options.environment})  ${json.signingSecret}`,
    json.preparedSecret === null ? '' : `prepared  ${json.preparedSecret}`,
    json.previousSecret === null
      ? ''
      : `previous, until ${secrets.previousUntil?.toISOString()}  ${json.previousSecret}`,
    options.show ? '' : 'To see it: npm run admin -- secret show --environment … --show',
  ];
  return { text: lines.filter((line) => line !== '').join('\n'), json };
}

/** Enough to tell two secrets apart. */
function masked(secret: string): string {
  return `whsec_…${secret.slice(-4)}`;
}

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
