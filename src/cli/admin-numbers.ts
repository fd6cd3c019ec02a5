/** `admin number …`: which account each telephone number belongs to. */
import { Argument, type Command } from 'commander';
import { readSettingsFile } from '../config/config.ts';
import { assignNumber, NumberOwners, unassignNumber } from '../domain/dialing/number-owner.ts';
import { TrunkNumbers } from '../telephony/trunks/trunk-numbers.ts';
import { parseTrunks } from '../telephony/trunks/trunks.ts';
import {
  accountOf,
  atDesk,
  type Console,
  type Desk,
  patiently,
  type Result,
  showing,
  table,
} from './admin-command.ts';

interface AssignOptions {
  readonly account?: string;
}

export function addNumberCommands(root: Command, console: Console): void {
  const number = root.command('number').description('telephone numbers and their accounts');

  const list = number.command('list').description('lists numbers, whose they are and who answers');
  showing(list, console, () => atDesk(console, (desk) => listNumbers(desk, trunksOf(console))));

  const assign = number.command('assign').description('gives a number to an account');
  assign.addArgument(numberArgument());
  assign.option('--account <id>', 'whose; may be left out where there is only one');
  showing<AssignOptions>(assign, console, (options, text = '') =>
    atDesk(console, (desk) => {
      const { id } = accountOf(desk, options.account);
      const request = { number: text, accountId: id, now: desk.now };
      change(desk, trunksOf(console), (parts) => assignNumber(request, parts));
      return { text: `${text} belongs to ${id}.`, json: { number: text, accountId: id } };
    }),
  );

  const unassign = number.command('unassign').description('takes an assignment back');
  unassign.addArgument(numberArgument());
  showing(unassign, console, (_options, text = '') =>
    atDesk(console, (desk) => {
      const trunks = trunksOf(console);
      change(desk, trunks, (parts) => unassignNumber(text, parts));
      const owner = ownersOf(desk, trunks).ownerOf(text) ?? null;
      const whose = owner === null ? 'no account: no trunk has it' : owner;
      return { text: `${text} belongs to ${whose}.`, json: { number: text, accountId: owner } };
    }),
  );
}

function listNumbers(desk: Desk, trunks: TrunkNumbers): Result {
  const { numberAssignments, numberHolders } = desk.store;
  const assignments = new Map(numberAssignments.list().map((one) => [one.number, one]));
  const holders = new Map(numberHolders.everyLive().map((held) => [held.number, held]));
  const ownerOf = ownersOf(desk, trunks).readAll();
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

function change(desk: Desk, trunks: TrunkNumbers, work: (parts: NumberParts) => void): void {
  const { accounts, numberAssignments, numberHolders, together } = desk.store;
  const parts = {
    accounts,
    assignments: numberAssignments,
    holders: numberHolders,
    owners: ownersOf(desk, trunks),
  };
  patiently(() => together(() => work(parts)));
}

function ownersOf({ store }: Desk, trunks: TrunkNumbers): NumberOwners {
  const { accounts, numberAssignments: assignments } = store;
  return new NumberOwners({ accounts, assignments, trunks });
}

/** @throws {Error} naming the trunk file and what is wrong in it. */
function trunksOf(console: Console): TrunkNumbers {
  const { SIP_TRUNKS } = console.config();
  return new TrunkNumbers(parseTrunks(readSettingsFile(SIP_TRUNKS), SIP_TRUNKS));
}

function numberArgument(): Argument {
  return new Argument('<number>', 'E.164, or the beginning of numbers and a star: +39061234*');
}
