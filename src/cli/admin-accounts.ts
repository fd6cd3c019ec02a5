/** `admin account …`: lists, shows, makes and changes accounts. */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { type Account, KEEP_CALLS, PLANS, type Plan } from '../domain/account/account.ts';
import { ACCOUNT_LIMITS, isCountryCode } from '../domain/account/account-rules.ts';
import { newSigningSecret } from '../domain/account/api-key.ts';
import { given } from '../domain/ids.ts';
import {
  accountOf,
  atDesk,
  type Console,
  type Desk,
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
