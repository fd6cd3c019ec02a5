/** `admin erase …`: erases calls, previews an erasure, and shows who erased what. */
import { Argument, type Command } from 'commander';
import { databaseFileOf } from '../config/config.ts';
import type { Account, Environment } from '../domain/account/account.ts';
import {
  checkErasedNumber,
  ERASED_CALLS_MAX,
  type ErasureKind,
  type ErasureOrder,
  limitsOf,
} from '../domain/account/erasure.ts';
import { systemClock as clock } from '../lib/clock.ts';
import { silentLogger as log } from '../lib/logger.ts';
import { openEraser } from '../store/accounts/retention-rounds.ts';
import { DatabaseInUseError, lockDatabase } from '../store/sqlite/sqlite-file.ts';
import {
  accountOf,
  atDesk,
  type Console,
  type Desk,
  environmentOption,
  patiently,
  type Result,
  table,
} from './admin-command.ts';

/** Erasures that are shown, newest first. */
const SHOWN_MAX = 1000;

interface EraseOptions {
  readonly account?: string;
  readonly environment?: Environment;
  readonly dryRun?: boolean;
}

/** Adds `admin erase`. */
export function addEraseCommands(root: Command, console: Console): void {
  const erase = root
    .command('erase')
    .description('erases calls for good, and shows what was erased');
  const dryRun = ['--dry-run', 'only says what would go'] as const;

  const call = erase.command('call').description('erases one call with all that was kept of it');
  call.addArgument(new Argument('<callId>', 'which call; it must be over'));
  call.option(...dryRun);
  atDesk<EraseOptions>(call, console, (desk, options, id = '') =>
    eraseCall({ desk, console }, id, options),
  );

  const number = erase.command('number').description('erases every call from or to a number');
  number.addArgument(new Argument('<number>', 'as calls show it, such as +390612345678'));
  number.option('--account <id>', 'whose; may be left out where there is only one');
  number.option('--environment <name>', 'only live or only test', environmentOption);
  number.option(...dryRun);
  atDesk<EraseOptions>(number, console, (desk, options, text = '') =>
    eraseNumber({ desk, console }, text, options),
  );

  const old = erase
    .command('old')
    .description('erases what accounts keep no longer, as the server does every ten minutes');
  old.option('--account <id>', 'only of this account');
  old.option(...dryRun);
  atDesk<EraseOptions>(old, console, (desk, options) => eraseOld({ desk, console }, options));

  const log = erase.command('log').description('shows who erased what, newest first');
  atDesk(log, console, showLog);
}

interface Place {
  readonly desk: Desk;
  readonly console: Console;
}

async function eraseCall(place: Place, id: string, { dryRun }: EraseOptions): Promise<Result> {
  const { store } = place.desk;
  const call = await store.calls.findById(id);
  if (call === undefined) throw new Error(`There is no call "${id}"`);
  const json = { calls: 1, recordings: call.recordingFile === null ? 0 : 1 };
  if (dryRun) return { text: `Would erase the call ${id}.`, json };
  const order = orderOf(place.desk, call.accountId, {
    kind: 'call',
    environment: call.environment,
  });
  await patiently(() => store.erasures.erase(id, order));
  await finish(place);
  return { text: `The call ${id} is erased.`, json: { id: order.id, ...json } };
}

async function eraseNumber(place: Place, number: string, options: EraseOptions): Promise<Result> {
  const { desk } = place;
  const { erasures } = desk.store;
  checkErasedNumber(number);
  const { id: accountId } = await accountOf(desk, options.account);
  const environment = options.environment ?? null;
  const selection = { accountId, environment, number };
  if (options.dryRun) {
    const counts = await erasures.count(selection);
    const { calls, recordings, callsInProgress } = counts;
    const text = `Would erase ${calls} calls with ${recordings} recordings; ${callsInProgress} more when they are over.`;
    return { text, json: counts };
  }
  const order = orderOf(desk, accountId, { kind: 'number', environment });
  const counts = await patiently(() => erasures.note(selection, order));
  while ((await patiently(() => erasures.eraseNoted(desk.now))) === ERASED_CALLS_MAX);
  await finish(place);
  const { calls, recordings, callsInProgress } = counts;
  const later =
    callsInProgress === 0 ? '' : `; the server erases ${callsInProgress} more when they are over`;
  const text = `${calls} calls with ${recordings} recordings are erased${later}.`;
  return { text, json: { id: order.id, ...counts } };
}

async function eraseOld(place: Place, options: EraseOptions): Promise<Result> {
  const { desk } = place;
  const { store, now } = desk;
  const chosen =
    options.account === undefined
      ? await store.accounts.list()
      : [await accountOf(desk, options.account)];
  const accounts = chosen.filter(({ retention }) => limitsOf(retention, now) !== undefined);
  const counts = await Promise.all(
    accounts.map(async (account) => ({
      accountId: account.id,
      ...(await store.accountRetention.count(account, now)),
    })),
  );
  if (!options.dryRun) {
    for (const account of accounts) await applyTo(desk, account);
    await finish(place);
  }
  const head = ['ACCOUNT', 'CALLS', 'RECORDINGS', 'TRANSCRIPTS'];
  const rows = counts.map((one) => [
    one.accountId,
    ...[one.calls, one.recordings, one.transcripts].map(String),
  ]);
  const text = table([head, ...rows], 'No account keeps its calls for a time only.');
  return { text: options.dryRun ? `Would erase:\n${text}` : `Erased:\n${text}`, json: counts };
}

async function applyTo(desk: Desk, account: Account): Promise<void> {
  const { accountRetention } = desk.store;
  const order = orderOf(desk, account.id, { kind: 'retention', environment: null });
  while ((await patiently(() => accountRetention.apply(account, order))) === ERASED_CALLS_MAX);
}

async function showLog({ store }: Desk): Promise<Result> {
  const erasures = await store.erasures.list(SHOWN_MAX);
  const head = ['ID', 'ACCOUNT', 'ENVIRONMENT', 'KIND', 'BY', 'ASKED', 'CALLS', 'RECORDINGS'];
  const rows = erasures.map((one) => [
    one.id,
    one.accountId,
    one.environment ?? 'both',
    one.kind,
    one.askedBy,
    one.askedAt.toISOString(),
    String(one.calls),
    String(one.recordings),
  ]);
  return { text: table([head, ...rows], 'Nothing was erased.'), json: erasures };
}

function orderOf(
  { newId, now }: Desk,
  accountId: string,
  facts: { readonly kind: ErasureKind; readonly environment: Environment | null },
): ErasureOrder {
  return { id: newId('ers'), accountId, ...facts, askedBy: 'admin', askedAt: now };
}

/**
 * Deletes recordings, empties SQLite's log, and rewrites the database file where no server works on it.
 *
 * @throws {Error} when a recording cannot be deleted; the server tries again.
 */
async function finish({ desk, console }: Place): Promise<void> {
  const config = console.config();
  const { store, newId } = desk;
  const dataFolder = config.DATA_DIR;
  await openEraser(store, { dataFolder, newId, isQuiet: () => false, clock, log }).finish();
  const [file] = await store.leftovers.files(1);
  if (file !== undefined) {
    throw new Error(`Cannot delete "${file}" in "${config.DATA_DIR}"; the rest is erased`);
  }
  try {
    const lock = lockDatabase(databaseFileOf(config));
    await store.leftovers.compact();
    await store.leftovers.emptyLog();
    lock.release();
  } catch (error) {
    // The server rewrites the file itself when no call is in progress.
    if (!(error instanceof DatabaseInUseError)) throw error;
  }
}
