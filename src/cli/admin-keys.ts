/** `admin key …`: lists, makes and revokes API keys. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Environment } from '../domain/account/account.ts';
import {
  API_SCOPES,
  type ApiKey,
  type ApiScope,
  createApiKey,
  hashOfKey,
} from '../domain/account/api-key.ts';
import {
  accountOf,
  atDesk,
  type Console,
  type Desk,
  environmentOption,
  nameOption,
  patiently,
  type Result,
  table,
} from './admin-command.ts';

interface KeyOptions {
  readonly account?: string;
  readonly environment: Environment;
  readonly name: string;
  readonly scopes?: readonly ApiScope[];
}

export function addKeyCommands(root: Command, console: Console): void {
  const key = root.command('key').description('API keys');

  const list = key.command('list').description('lists keys, newest first; revoked ones too');
  list.option('--account <id>', 'only of this account');
  atDesk(list, console, listKeys);

  const create = key.command('create').description('makes a key and shows it, this once');
  create.option('--account <id>', 'whose; may be left out where there is only one');
  create.requiredOption('--environment <name>', 'live or test', environmentOption);
  create.requiredOption('--name <name>', 'what it is for', nameOption);
  create.option(
    '--scopes <list>',
    `what it may do: all, or a list out of ${API_SCOPES.join(', ')} (default: all but admin)`,
    scopesOption,
  );
  atDesk(create, console, createKey);

  const revoke = key.command('revoke').description('stops a key for good, within a second');
  revoke.argument('<id>', 'which, as "key list" shows it');
  atDesk(revoke, console, (desk, _options, id) => revokeKey(desk, id ?? ''));
}

async function listKeys(
  desk: Desk,
  { account: accountId }: Pick<KeyOptions, 'account'>,
): Promise<Result> {
  const accounts =
    accountId === undefined ? await desk.store.accounts.list() : [await accountOf(desk, accountId)];
  const keys: ApiKey[] = [];
  for (const { id } of accounts) {
    for (const environment of ['live', 'test'] as const) {
      keys.push(...(await desk.store.apiKeys.list({ accountId: id, environment })));
    }
  }
  const head = ['ID', 'ACCOUNT', 'KEY', 'NAME', 'SCOPES', 'LAST USED', 'STATE'];
  const rows = keys.map((key) => [
    key.id,
    key.accountId,
    shortKey(key),
    key.name,
    key.scopes.length === API_SCOPES.length ? 'all' : key.scopes.join(','),
    key.lastUsedAt?.toISOString() ?? 'never',
    key.revokedAt === null ? 'works' : `revoked ${key.revokedAt.toISOString()}`,
  ]);
  return { text: table([head, ...rows], 'There are no keys.'), json: keys };
}

async function createKey(desk: Desk, options: KeyOptions): Promise<Result> {
  const { store, now, newId, random } = desk;
  const { id: accountId } = await accountOf(desk, options.account);
  const scope = { accountId, environment: options.environment };
  const made = createApiKey(options, { id: newId('key'), scope, now, random });
  await patiently(() => store.apiKeys.insert(made.apiKey, hashOfKey(made.keyText)));
  return {
    text: `${made.keyText}\n\nKeep it: it is shown this once (id ${made.apiKey.id}).`,
    json: { ...made.apiKey, key: made.keyText },
  };
}

async function revokeKey({ store, now }: Desk, id: string): Promise<Result> {
  const accounts = await store.accounts.list();
  const keys = await Promise.all(accounts.map((account) => store.apiKeys.find(account.id, id)));
  const found = keys.find((key) => key !== undefined);
  if (found === undefined) {
    throw new Error(`There is no key "${id}": "key list" shows the ids`);
  }
  await patiently(() => store.apiKeys.revoke(found, id, now));
  const revokedAt = found.revokedAt ?? now;
  const state = found.revokedAt === null ? 'is revoked' : 'was revoked before';
  return { text: `The key ${shortKey(found)} (${id}) ${state}.`, json: { ...found, revokedAt } };
}

function shortKey({ prefix, lastFour }: ApiKey): string {
  return `${prefix}…${lastFour}`;
}

function scopesOption(text: string): readonly ApiScope[] {
  if (text === 'all') return API_SCOPES;
  const words = [...new Set(text.split(',').map((word) => word.trim()))];
  return words.map((word) => {
    const scope = API_SCOPES.find((known) => known === word);
    if (scope !== undefined) return scope;
    throw new InvalidArgumentError(`"${word}" is no scope; there are ${API_SCOPES.join(', ')}.`);
  });
}
