/** The operator's commands: `npm run admin -- …`. Works on the server's database, whether the server runs or not. */
import { Argument, Command, CommanderError } from 'commander';
import { ConfigError, readProcessConfig } from '../config/config.ts';
import type { Environment, SigningSecrets } from '../domain/account/account.ts';
import { newSigningSecret } from '../domain/account/api-key.ts';
import type { Scope } from '../domain/agent/agent.ts';
import { assignNumber, NumberOwners, unassignNumber } from '../domain/dialing/number-owner.ts';
import { PASSWORD_SECRET } from '../operator/operator-password.ts';
import type { TrunkNumbers } from '../telephony/trunks/trunk-table.ts';
import { addAccountCommands } from './admin-accounts.ts';
import { addBackupCommands } from './admin-backup.ts';
import {
  accountOf,
  atDesk,
  type Console,
  type Desk,
  environmentOption,
  patiently,
  type Result,
  table,
  UsageError,
} from './admin-command.ts';
import { addCompletionCommand } from './admin-completion.ts';
import { addDoctorCommand } from './admin-doctor.ts';
import { addEraseCommands } from './admin-erase.ts';
import { addKeyCommands } from './admin-keys.ts';
import { addForgetCommand } from './admin-secrets.ts';
import { addSelfTestCommand } from './admin-self-test.ts';
import { addTrunkCommands, readTrunks } from './admin-trunks.ts';
import { addWebhookCommands } from './admin-webhooks.ts';

const EXIT_FAILED = 1;

const EXIT_USAGE = 2;

/** EX_CONFIG of sysexits.h: the settings are wrong. */
const EXIT_CONFIG = 78;

const HELP = `
Every command takes --json. Settings come from the environment and .env, as for the server.
Exit status: 0 done, 1 could not be done, 2 wrong usage, 78 wrong settings.`;

const terminal: Console = {
  print: (text) => console.log(text),
  progress: (text) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${text}\u001b[K`);
  },
  config: readProcessConfig,
};

function program(): Command {
  const root = new Command('admin')
    .description(
      'Manages an Offhook installation: accounts, keys, trunks, webhooks, backups; tests its models.',
    )
    .usage('<command>  (npm run admin -- <command>)')
    .addHelpText('after', HELP)
    .exitOverride();
  addAccountCommands(root, terminal);
  addKeyCommands(root, terminal);
  addNumberCommands(root, terminal);
  addTrunkCommands(root, terminal);
  addForgetCommand(root, terminal);
  addWebhookCommands(root, terminal);
  addSecretCommands(root, terminal);
  addOperatorCommands(root, terminal);
  addEraseCommands(root, terminal);
  addBackupCommands(root, terminal);
  addSelfTestCommand(root, terminal);
  addDoctorCommand(root, terminal);
  addCompletionCommand(root, terminal.print);
  return root;
}

/** Says what went wrong, and gives the exit status. Commander has told of its own errors already. */
function statusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  console.error(error instanceof Error ? error.message : String(error));
  if (error instanceof UsageError) return EXIT_USAGE;
  return error instanceof ConfigError ? EXIT_CONFIG : EXIT_FAILED;
}

try {
  await program().parseAsync();
} catch (error) {
  process.exitCode = statusOf(error);
}

/** `admin operator …`: the one who signs in to the dashboard. */
function addOperatorCommands(root: Command, console: Console): void {
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

interface AssignOptions {
  readonly account?: string;
}

/** `admin number …`: which account each telephone number belongs to. */
function addNumberCommands(root: Command, console: Console): void {
  const number = root.command('number').description('telephone numbers and their accounts');

  const list = number.command('list').description('lists numbers, whose they are and who answers');
  atDesk(list, console, async (desk) => listNumbers(desk, await trunksOf(desk, console)));

  const assign = number.command('assign').description('gives a number to an account');
  assign.addArgument(numberArgument());
  assign.option('--account <id>', 'whose; may be left out where there is only one');
  atDesk<AssignOptions>(assign, console, async (desk, options, text = '') => {
    const { id } = await accountOf(desk, options.account);
    const request = { number: text, accountId: id, now: desk.now };
    const trunks = await trunksOf(desk, console);
    await change(desk, trunks, (parts) => assignNumber(request, parts));
    return { text: `${text} belongs to ${id}.`, json: { number: text, accountId: id } };
  });

  const unassign = number.command('unassign').description('takes an assignment back');
  unassign.addArgument(numberArgument());
  atDesk(unassign, console, async (desk, _options, text = '') => {
    const trunks = await trunksOf(desk, console);
    await change(desk, trunks, (parts) => unassignNumber(text, parts));
    const owner = (await ownersOf(desk, trunks).ownerOf(text)) ?? null;
    const whose = owner === null ? 'no account: no trunk has it' : owner;
    return { text: `${text} belongs to ${whose}.`, json: { number: text, accountId: owner } };
  });
}

async function listNumbers(desk: Desk, trunks: TrunkNumbers): Promise<Result> {
  const { numberAssignments, numberHolders } = desk.store;
  const assignments = new Map((await numberAssignments.list()).map((one) => [one.number, one]));
  const holders = new Map((await numberHolders.everyLive()).map((held) => [held.number, held]));
  const ownerOf = await ownersOf(desk, trunks).readAll();
  const numbers = [...new Set([...trunks.all, ...assignments.keys(), ...holders.keys()])].sort();
  const facts = numbers.map((number) => ({
    number,
    accountId: ownerOf(number) ?? null,
    assignedBy: assignments.get(number)?.assignedBy ?? null,
    trunks: trunks.trunksOf(number),
    agentId: holders.get(number)?.agentId ?? null,
    agentAccountId: holders.get(number)?.accountId ?? null,
  }));
  const head = ['NUMBER', 'ACCOUNT', 'ASSIGNED BY', 'TRUNKS', 'AGENT', 'ITS ACCOUNT'];
  const rows = facts.map((one) => [
    one.number,
    one.accountId ?? '-',
    one.assignedBy ?? '-',
    one.trunks.join(',') || '-',
    one.agentId ?? '-',
    one.agentAccountId ?? '-',
  ]);
  return { text: table([head, ...rows], 'There are no numbers.'), json: facts };
}

type NumberParts = Parameters<typeof assignNumber>[1];

async function change(
  desk: Desk,
  trunks: TrunkNumbers,
  work: (parts: NumberParts) => Promise<void>,
): Promise<void> {
  await patiently(() =>
    desk.store.transaction(({ accounts, numberAssignments: assignments, numberHolders: holders }) =>
      work({
        accounts,
        assignments,
        holders,
        owners: new NumberOwners({ accounts, assignments, trunks }),
      }),
    ),
  );
}

function ownersOf({ store }: Desk, trunks: TrunkNumbers): NumberOwners {
  const { accounts, numberAssignments: assignments } = store;
  return new NumberOwners({ accounts, assignments, trunks });
}

/** @throws {Error} naming the trunk file and what is wrong in it. */
async function trunksOf(desk: Desk, console: Console): Promise<TrunkNumbers> {
  return (await readTrunks(desk, console)).registry.numbers;
}

function numberArgument(): Argument {
  return new Argument('<number>', 'E.164, or the beginning of numbers and a star: +39061234*');
}

interface SecretOptions {
  readonly account?: string;
  readonly environment: Environment;
  readonly show?: boolean;
}

/** `admin secret …`: the secrets that webhook deliveries are signed with. */
function addSecretCommands(root: Command, console: Console): void {
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
    'makes a new secret, which signs beside the current one',
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
