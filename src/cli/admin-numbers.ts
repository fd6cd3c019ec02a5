/** `admin number …`: which account each telephone number belongs to. */
import { Argument, type Command } from 'commander';
import { assignNumber, NumberOwners, unassignNumber } from '../domain/dialing/number-owner.ts';
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
import { readTrunks } from './admin-trunks.ts';

interface AssignOptions {
  readonly account?: string;
}

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
