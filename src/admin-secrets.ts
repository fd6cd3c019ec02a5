/** `admin secret …`: the secrets that webhook deliveries are signed with. */
import type { Command } from 'commander';
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
import type { Environment, SigningSecrets } from './domain/account.ts';
import { newSigningSecret } from './domain/api-key.ts';

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
  add('rotate', 'makes a new secret; the old one signs beside it for 24 h', rotate);
  add('show', 'shows which secret signs, and until when the one before it does', show);
}

function rotate(desk: Desk, options: SecretOptions): Result {
  const { id } = accountOf(desk, options.account);
  const secret = newSigningSecret(desk.random);
  const secrets = patiently(() =>
    desk.store.accounts.rotateSigningSecret(id, options.environment, secret, desk.now),
  );
  return resultOf('The secret is new.', id, { secrets, options });
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
    previousSecret: shown(secrets.previous),
    previousValidUntil: secrets.previousUntil,
  };
  const lines = [
    news,
    `signing secret (${options.environment})  ${json.signingSecret}`,
    json.previousSecret === null
      ? ''
      : `the one before it, until ${secrets.previousUntil?.toISOString()}  ${json.previousSecret}`,
    options.show ? '' : 'To see it: npm run admin -- secret show --environment … --show',
  ];
  return { text: lines.filter((line) => line !== '').join('\n'), json };
}

/** Enough to tell two secrets apart. */
function masked(secret: string): string {
  return `whsec_…${secret.slice(-4)}`;
}
