/** `admin account …` and `admin key …`: lists, makes and changes accounts and their API keys. */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import {
  type Account,
  type Environment,
  KEEP_CALLS,
  PLANS,
  type Plan,
} from '../domain/account/account.ts';
import { ACCOUNT_LIMITS, isCountryCode } from '../domain/account/account-rules.ts';
import {
  API_SCOPES,
  type ApiKey,
  type ApiScope,
  createApiKey,
  hashOfKey,
  newSigningSecret,
} from '../domain/account/api-key.ts';
import { given } from '../domain/ids.ts';
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
  UsageError,
} from './admin-command.ts';

interface AccountOptions {
  readonly name?: string;
  readonly plan?: Plan;
  readonly minutes?: number;
  /** ISO 3166 codes; `default`: the country of the calling number. */
  readonly countries?: readonly string[] | 'default';
  readonly recordingsDays?: number | 'keep';
  readonly transcriptsDays?: number | 'keep';
  readonly callsDays?: number | 'keep';
}

/** Adds `admin account`. */
export function addAccountCommands(root: Command, console: Console): void {
  const account = root.command('account').description('accounts and their plans');

  atDesk(account.command('list').description('lists accounts'), console, listAccounts);

  const show = account.command('show').description('shows an account');
  show.addArgument(accountArgument());
  atDesk(show, console, async (desk, _options, id) =>
    accountResult(await accountOf(desk, id || undefined)),
  );

  const create = account.command('create').description('makes an account, without keys');
  create.requiredOption('--name <name>', 'as customers see it', nameOption);
  create.addOption(planOption().default('business'));
  create.option('--minutes <count>', 'included in a calendar month', minutesOption, 1000);
  atDesk(create, console, createAccount);

  const set = account
    .command('set')
    .description('changes an account: plan, minutes, countries, how long calls are kept');
  set.addArgument(accountArgument());
  set.option('--name <name>', 'as customers see it', nameOption);
  set.addOption(planOption());
  set.option('--minutes <count>', 'included in a calendar month', minutesOption);
  set.option(
    '--countries <list>',
    'which may be called, such as IT,DE; default: the country of the calling number',
    countriesOption,
  );
  set.option('--recordings-days <days>', 'how long recordings are kept, or keep', daysOption);
  set.option('--transcripts-days <days>', 'how long words are kept, or keep', daysOption);
  set.option('--calls-days <days>', 'how long calls are kept at all, or keep', daysOption);
  atDesk(set, console, setAccount);
}

async function listAccounts({ store }: Desk): Promise<Result> {
  const accounts = await store.accounts.list();
  const rows = accounts.map(({ id, name, plan, minutesIncluded }) => [
    id,
    name,
    plan,
    String(minutesIncluded),
  ]);
  return {
    text: table([['ID', 'NAME', 'PLAN', 'MINUTES'], ...rows], 'There are no accounts.'),
    json: accounts,
  };
}

async function createAccount(
  desk: Desk,
  { name = '', plan, minutes }: AccountOptions,
): Promise<Result> {
  const { store, now, newId, random } = desk;
  const account: Account = {
    id: newId('acct'),
    name,
    plan: plan ?? 'business',
    minutesIncluded: minutes ?? 0,
    transferTargets: [],
    allowedCountries: null,
    callingHours: null,
    retention: KEEP_CALLS,
    createdAt: now,
  };
  const signingSecrets = { live: newSigningSecret(random), test: newSigningSecret(random) };
  await patiently(() => store.accounts.found({ account, signingSecrets, apiKeys: [] }));
  const { text, json } = accountResult(account);
  const next = `npm run admin -- key create --account ${account.id} --environment live`;
  return { text: `${text}\n\nIt has no keys yet: ${next}`, json };
}

async function setAccount(desk: Desk, options: AccountOptions, id?: string): Promise<Result> {
  const before = await accountOf(desk, id || undefined);
  const { name, plan, minutes, countries, recordingsDays, transcriptsDays, callsDays } = options;
  const retention = given({ recordingsDays, transcriptsDays, callsDays });
  const others = [name, plan, minutes, countries, ...Object.values(retention)];
  if (others.every((option) => option === undefined)) {
    throw new UsageError('Nothing to change: give an option, such as --plan; --help lists them');
  }
  const chosen = countries === 'default' ? null : countries;
  const kept = Object.fromEntries(
    Object.entries(retention).map(([name, days]) => [name, days === 'keep' ? null : days]),
  );
  const account: Account = {
    ...before,
    name: name ?? before.name,
    plan: plan ?? before.plan,
    minutesIncluded: minutes ?? before.minutesIncluded,
    allowedCountries: chosen === undefined ? before.allowedCountries : chosen,
    retention: { ...before.retention, ...kept },
  };
  await patiently(() => desk.store.accounts.update(account));
  return accountResult(account);
}

function accountResult(account: Account): Result {
  const { id, name, plan, minutesIncluded, allowedCountries, retention, createdAt } = account;
  const kept = (days: number | null) => (days === null ? 'for good' : `${days} days`);
  const lines = [
    `id         ${id}`,
    `name       ${name}`,
    `plan       ${plan}`,
    `minutes    ${minutesIncluded} a calendar month`,
    `countries  ${allowedCountries?.join(', ') ?? 'that of the calling number'}`,
    `keeps      recordings ${kept(retention.recordingsDays)}, words ${kept(retention.transcriptsDays)}, calls ${kept(retention.callsDays)}`,
    `created    ${createdAt.toISOString()}`,
  ];
  return { text: lines.join('\n'), json: account };
}

function accountArgument(): Argument {
  return new Argument('[id]', 'which account; may be left out where there is only one');
}

function planOption(): Option {
  return new Option('--plan <plan>', 'what it may do').choices(PLANS);
}

function minutesOption(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number of minutes.');
}

function daysOption(text: string): number | 'keep' {
  const { min, max } = ACCOUNT_LIMITS.retentionDays;
  if (text === 'keep') return text;
  if (/^\d{1,5}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
  throw new InvalidArgumentError(`Expected keep, or days from ${min} to ${max}.`);
}

function countriesOption(text: string): readonly string[] | 'default' {
  if (text === 'default') return text;
  const countries = [...new Set(text.split(',').map((code) => code.trim().toUpperCase()))];
  const unknown = countries.find((code) => !isCountryCode(code));
  if (unknown === undefined) return countries;
  throw new InvalidArgumentError(
    `"${unknown}" is not an ISO 3166 code; expected a list such as IT,DE, or default.`,
  );
}

interface KeyOptions {
  readonly account?: string;
  readonly environment: Environment;
  readonly name: string;
  readonly scopes?: readonly ApiScope[];
}

/** Adds `admin key`. */
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
