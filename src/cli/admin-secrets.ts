/** `admin secret …`: the secrets that webhook deliveries are signed with. */
import type { Command } from 'commander';
import type { Environment, SigningSecrets } from '../domain/account/account.ts';
import { newSigningSecret } from '../domain/account/api-key.ts';
import type { Scope } from '../domain/agent/agent.ts';
import {
  accountOf,
  atDesk,
  type Console,
  type Desk,
  environmentOption,
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
    work: (desk: Desk, options: SecretOptions) => Result,
  ) => {
    const command = secret.command(name).description(description);
    command.option('--account <id>', 'whose; may be left out where there is only one');
    command.requiredOption('--environment <name>', 'live or test', environmentOption);
    command.option('--show', 'show the secret itself');
    showing<SecretOptions>(command, console, (options) =>
      atDesk(console, (desk) => work(desk, options)),
    );
  };
  add('show', 'shows the current secret, the prepared one and the previous one', show);
  add('prepare', 'makes a new secret, which signs beside the current one', prepare);
  add(
    'activate',
    'makes the prepared secret the current one; the old one signs for 24 h',
    activate,
  );
  add('drop-prepared', 'ends the prepared secret', (desk, options) =>
    drop(desk, options, 'prepared'),
  );
  add('drop-previous', 'ends the previous secret before its 24 h are over', (desk, options) =>
    drop(desk, options, 'previous'),
  );
}

function prepare(desk: Desk, options: SecretOptions): Result {
  const scope = scopeOf(desk, options);
  const secret = newSigningSecret(desk.random);
  const secrets = patiently(() =>
    desk.store.accounts.prepareSigningSecret(scope, secret, desk.now),
  );
  const news = 'A new secret is prepared. Give it to the receivers, then run "secret activate".';
  return resultOf(news, scope.accountId, { secrets, options });
}

function activate(desk: Desk, options: SecretOptions): Result {
  const scope = scopeOf(desk, options);
  const secrets = patiently(() => desk.store.accounts.activateSigningSecret(scope, desk.now));
  return resultOf('The prepared secret is the current one.', scope.accountId, { secrets, options });
}

function drop(desk: Desk, options: SecretOptions, which: 'prepared' | 'previous'): Result {
  const scope = scopeOf(desk, options);
  const secrets = patiently(() => desk.store.accounts.dropSigningSecret(scope, which, desk.now));
  return resultOf(`There is no ${which} secret now.`, scope.accountId, { secrets, options });
}

function scopeOf(desk: Desk, options: SecretOptions): Scope {
  return { accountId: accountOf(desk, options.account).id, environment: options.environment };
}

function show(desk: Desk, options: SecretOptions): Result {
  const { id } = accountOf(desk, options.account);
  const secrets = desk.store.accounts.signingSecrets(id, options.environment, desk.now);
  if (secrets === undefined) throw new Error(`The account "${id}" has no signing secret`);
  return resultOf('', id, { secrets, options });
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
