/** `admin account …`: lists, shows, makes and changes accounts. */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import {
  accountOf,
  atDesk,
  type Console,
  type Desk,
  patiently,
  type Result,
  showing,
  table,
  UsageError,
} from './admin-command.ts';
import { type Account, KEEP_CALLS, PLANS, type Plan } from './domain/account.ts';
import { ACCOUNT_LIMITS, isCountryCode } from './domain/account-rules.ts';
import { newSigningSecret } from './domain/api-key.ts';

interface AccountOptions {
  readonly name?: string;
  readonly plan?: Plan;
  readonly minutes?: number;
  /** ISO 3166 codes; `default`: the country of the calling number. */
  readonly countries?: readonly string[] | 'default';
}

export function addAccountCommands(root: Command, console: Console): void {
  const account = root.command('account').description('accounts and their plans');

  showing(account.command('list').description('lists accounts'), console, () =>
    atDesk(console, listAccounts),
  );

  const show = account.command('show').description('shows an account');
  show.addArgument(accountArgument());
  showing(show, console, (_options, id) =>
    atDesk(console, (desk) => accountResult(accountOf(desk, id || undefined))),
  );

  const create = account.command('create').description('makes an account, without keys');
  create.requiredOption('--name <name>', 'as customers see it', nameOption);
  create.addOption(planOption().default('business'));
  create.option('--minutes <count>', 'included in a calendar month', minutesOption, 1000);
  showing<AccountOptions>(create, console, (options) =>
    atDesk(console, (desk) => createAccount(desk, options)),
  );

  const set = account.command('set').description('changes an account: plan, minutes, countries');
  set.addArgument(accountArgument());
  set.option('--name <name>', 'as customers see it', nameOption);
  set.addOption(planOption());
  set.option('--minutes <count>', 'included in a calendar month', minutesOption);
  set.option(
    '--countries <list>',
    'which may be called, such as IT,DE; default: the country of the calling number',
    countriesOption,
  );
  showing<AccountOptions>(set, console, (options, id) =>
    atDesk(console, (desk) => setAccount(desk, id || undefined, options)),
  );
}

function listAccounts({ store }: Desk): Result {
  const accounts = store.accounts.list();
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

function createAccount(desk: Desk, { name = '', plan, minutes }: AccountOptions): Result {
  const { store, now, newId, random } = desk;
  const account: Account = {
    id: newId('acct'),
    name,
    plan: plan ?? 'business',
    minutesIncluded: minutes ?? 0,
    transferTargets: [],
    allowedCountries: null,
    retention: KEEP_CALLS,
    createdAt: now,
  };
  const signingSecrets = { live: newSigningSecret(random), test: newSigningSecret(random) };
  patiently(() => store.accounts.found({ account, signingSecrets, apiKeys: [] }));
  const { text, json } = accountResult(account);
  const next = `npm run admin -- key create --account ${account.id} --environment live`;
  return { text: `${text}\n\nIt has no keys yet: ${next}`, json };
}

function setAccount(desk: Desk, id: string | undefined, options: AccountOptions): Result {
  const before = accountOf(desk, id);
  const { name, plan, minutes, countries } = options;
  if ([name, plan, minutes, countries].every((option) => option === undefined)) {
    throw new UsageError('Nothing to change: give --name, --plan, --minutes or --countries');
  }
  const chosen = countries === 'default' ? null : countries;
  const account: Account = {
    ...before,
    name: name ?? before.name,
    plan: plan ?? before.plan,
    minutesIncluded: minutes ?? before.minutesIncluded,
    allowedCountries: chosen === undefined ? before.allowedCountries : chosen,
  };
  patiently(() => desk.store.accounts.update(account));
  return accountResult(account);
}

function accountResult(account: Account): Result {
  const { id, name, plan, minutesIncluded, allowedCountries, createdAt } = account;
  const lines = [
    `id         ${id}`,
    `name       ${name}`,
    `plan       ${plan}`,
    `minutes    ${minutesIncluded} a calendar month`,
    `countries  ${allowedCountries?.join(', ') ?? 'that of the calling number'}`,
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

function nameOption(text: string): string {
  const name = text.trim();
  if (name !== '' && name.length <= ACCOUNT_LIMITS.nameCharsMax) return name;
  throw new InvalidArgumentError(`Expected 1 to ${ACCOUNT_LIMITS.nameCharsMax} characters.`);
}

function minutesOption(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number of minutes.');
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
