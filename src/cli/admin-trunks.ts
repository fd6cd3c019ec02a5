/** `admin trunk …` and `admin number …`: lists, checks and removes SIP trunks, and says which account each telephone number belongs to. */
import { Argument, type Command } from 'commander';
import { openAddresses } from '../compose/addresses.ts';
import { diagnose } from '../compose/sip-doctor-client.ts';
import { readTrunksFile } from '../compose/trunk-control.ts';
import { assignNumber, NumberOwners, unassignNumber } from '../domain/dialing/number-owner.ts';
import { removeTrunk } from '../domain/dialing/trunk.ts';
import { systemClock as clock } from '../lib/clock.ts';
import { silentLogger as log } from '../lib/logger.ts';
import { operatorTrunks, TrunkRegistry, viewOfTrunk } from '../telephony/trunks/trunk-registry.ts';
import type { TrunkNumbers } from '../telephony/trunks/trunk-table.ts';
import {
  accountOf,
  atDesk,
  type Console,
  type Desk,
  patiently,
  type Result,
  table,
} from './admin-command.ts';

/** A trunk that is not well is a failure, for scripts. */
const EXIT_FAILED = 1;

/** Adds `admin trunk`. */
export function addTrunkCommands(root: Command, console: Console): void {
  const trunk = root.command('trunk').description('SIP trunks');

  const list = trunk.command('list').description('lists trunks of the file and of the database');
  atDesk(list, console, async (desk) => listTrunks(await readTrunks(desk, console)));

  const remove = trunk
    .command('remove')
    .description('removes a trunk of the database, such as that of a backup on another machine');
  remove.addArgument(nameArgument());
  atDesk(remove, console, (desk, _options, name = '') => removeStored(desk, name, console));

  const check = trunk
    .command('check')
    .description('asks the carrier step by step, and says what is wrong and what to do');
  check.addArgument(nameArgument());
  atDesk(check, console, async (desk, _options, name = '') => {
    const result = await checkTrunk(await readTrunks(desk, console), name, console);
    if (!result.json.ok) process.exitCode = EXIT_FAILED;
    return result;
  });
}

function nameArgument(): Argument {
  return new Argument('<name>', 'the name of the trunk');
}

async function removeStored(desk: Desk, name: string, console: Console): Promise<Result> {
  const { registry } = await readTrunks(desk, console);
  const trunks = operatorTrunks(registry, { statusOf: () => undefined, callsOn: () => 0 });
  await patiently(() =>
    desk.store.transaction(({ storedTrunks: stored }) => removeTrunk(name, { trunks, stored })),
  );
  const later = `A server that runs goes on with it until its next start; DELETE /api/trunks/${name} removes one at once.`;
  return { text: `Trunk "${name}" is removed.\n${later}`, json: { name } };
}

/** Trunks of the file and of the database, by name. */
export interface KnownTrunks {
  readonly registry: TrunkRegistry;
  /** Why trunks of the database are left out. */
  readonly problems: readonly string[];
}

/**
 * The trunks of the file and of the database, as the server has them.
 *
 * @throws {Error} naming the trunk file and what is wrong in it.
 */
export async function readTrunks(desk: Desk, console: Console): Promise<KnownTrunks> {
  const registry = new TrunkRegistry(readTrunksFile(console.config()));
  const problems = registry.replaceStored(await desk.store.storedTrunks.list());
  return { registry, problems };
}

function listTrunks({ registry, problems }: KnownTrunks): Result {
  const views = registry.all.map((trunk) => viewOfTrunk(trunk, registry.sourceOf(trunk)));
  const head = ['NAME', 'SOURCE', 'PROXY', 'TRANSPORT', 'REGISTERS', 'NUMBERS'];
  const rows = views.map((view) => [
    ...[view.name, view.source, view.proxy, view.transport, view.register ? 'yes' : 'no'],
    view.numbers.join(',') || '-',
  ]);
  const text = table([head, ...rows], 'There are no trunks.');
  return { text: [text, ...problems].join('\n'), json: views };
}

/** @throws {Error} naming the known trunks, when `name` is none of them. */
export async function checkTrunk(
  { registry, problems }: KnownTrunks,
  name: string,
  console: Console,
) {
  const trunk = registry.find(name);
  if (trunk === undefined) {
    const known = registry.all.map((each) => each.name).join(', ') || 'none';
    const why = `there is none of this name; there are: ${known}`;
    throw new Error([`Cannot check trunk "${name}": ${why}`, ...problems].join('\n'));
  }
  const config = console.config();
  const addresses = openAddresses({
    ...{ config, trunks: registry.all, clock, log },
    onChange: () => undefined,
  });
  await addresses.start();
  try {
    const json = await diagnose(trunk, { config, addresses, clock, log });
    const lines = json.steps.map(({ ok, step, message }) => [ok ? 'ok' : 'WRONG', step, message]);
    return { text: table([['', 'STEP', 'FOUND'], ...lines], ''), json };
  } finally {
    addresses.stop();
  }
}

interface AssignOptions {
  readonly account?: string;
}

/** Adds `admin number`. */
export function addNumberCommands(root: Command, console: Console): void {
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
