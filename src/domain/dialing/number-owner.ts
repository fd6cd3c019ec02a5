/** Which account a telephone number belongs to, the contract of the store that keeps assignments, and the list of numbers. */
import type { AccountStore } from '../account/account-rules.ts';
import type { Agent, Scope } from '../agent/agent.ts';
import type { Page, PageRange } from '../ids.ts';
import { conflict, ServiceError, unprocessable } from '../service-error.ts';
import { type HeldNumber, isPhoneNumber, type NumberHolders } from './phone-number.ts';
import type { Trunks } from './trunk.ts';

/** A number, or the beginning of numbers and a star, that the operator has given to an account. */
export interface NumberAssignment {
  readonly number: string;
  readonly accountId: string;
  readonly assignedAt: Date;
  /** `upgrade`: an agent of the account held it before numbers belonged to accounts. */
  readonly assignedBy: 'operator' | 'upgrade';
}

/** Keeps assignments. The writes may run inside of a transaction. */
export interface NumberAssignments {
  /** The first of these numbers, or beginnings with a star, that is assigned. */
  findFirst(numbers: readonly string[]): Promise<NumberAssignment | undefined>;

  /** Sorted by number. */
  list(): Promise<readonly NumberAssignment[]>;

  /** Takes the place of an assignment of the same number. */
  save(assignment: NumberAssignment): Promise<void>;

  /** @returns whether there was one. */
  remove(number: string): Promise<boolean>;
}

/** Account id of a number's owner; undefined where no trunk has the number and it is not assigned. */
export type OwnerOf = (number: string) => Promise<string | undefined>;

/**
 * Finds the owner of a number: by the assignment of the number, else of its longest beginning; else the account that its
 * trunk names; else the first account.
 */
export class NumberOwners {
  readonly #accounts: Pick<AccountStore, 'list'>;
  readonly #assignments: Pick<NumberAssignments, 'findFirst' | 'list'>;
  readonly #trunks: Pick<Trunks, 'accountOf'>;
  #firstId: string | undefined;

  constructor(parts: {
    readonly accounts: Pick<AccountStore, 'list'>;
    readonly assignments: Pick<NumberAssignments, 'findFirst' | 'list'>;
    readonly trunks: Pick<Trunks, 'accountOf'>;
  }) {
    this.#accounts = parts.accounts;
    this.#assignments = parts.assignments;
    this.#trunks = parts.trunks;
  }

  /** The first account, which owns all unassigned numbers and is never deleted. Undefined before it is made. */
  async firstAccountId(): Promise<string | undefined> {
    this.#firstId ??= (await this.#accounts.list())[0]?.id;
    return this.#firstId;
  }

  readonly ownerOf: OwnerOf = async (number) =>
    (await this.#assignments.findFirst(coveringOf(number)))?.accountId ??
    (await this.#ownerByTrunk(number));

  /** Reads the assignments once, and answers as `ownerOf` for many numbers at one moment. */
  async readAll(): Promise<(number: string) => string | undefined> {
    const assigned = new Map(
      (await this.#assignments.list()).map(({ number, accountId }) => [number, accountId]),
    );
    const firstId = await this.firstAccountId();
    return (number) => {
      const covering = coveringOf(number).find((each) => assigned.has(each));
      if (covering !== undefined) return assigned.get(covering);
      const named = this.#trunks.accountOf(number);
      return named === undefined ? undefined : (named ?? firstId);
    };
  }

  /** Whether agents and calls of the account may use the number. */
  async mayUse(accountId: string, number: string): Promise<boolean> {
    const owner = await this.ownerOf(number);
    return owner === undefined || owner === accountId;
  }

  /**
   * Checks the number that an agent is to have. Numbers of the sandbox ring nowhere and belong to no account.
   *
   * @param held the agent's number so far: it may stay.
   * @throws {ServiceError} UNPROCESSABLE when it belongs to another account.
   */
  async requireOwn(scope: Scope, number: string | null, held: string | null = null): Promise<void> {
    if (number === null || number === held || scope.environment !== 'live') return;
    if (!(await this.mayUse(scope.accountId, number))) throw notOwn('phoneNumber', number);
  }

  async #ownerByTrunk(number: string): Promise<string | undefined> {
    const named = this.#trunks.accountOf(number);
    return named === undefined ? undefined : (named ?? (await this.firstAccountId()));
  }
}

/** An answer to the use of a number that belongs to another account. @param path of the field. */
export function notOwn(path: string, number: string): ServiceError {
  const why = 'it is not a number of this account';
  return unprocessable(`Cannot use ${path} "${number}": ${why}`);
}

/** The agent, where its account may use its number: a trunk may have brought the number later. */
export async function entitled(
  agent: Agent | undefined,
  owners: NumberOwners,
): Promise<Agent | undefined> {
  if (agent === undefined || agent.phoneNumber === null) return agent;
  return (await owners.mayUse(agent.accountId, agent.phoneNumber)) ? agent : undefined;
}

interface Assigning {
  readonly accounts: Pick<AccountStore, 'find'>;
  readonly assignments: NumberAssignments;
  readonly holders: Pick<NumberHolders, 'everyLive'>;
  readonly owners: NumberOwners;
}

/**
 * Assigns a number, or all numbers with one beginning, to an account. Run it as one transaction: an error must roll it back.
 *
 * @throws {ServiceError} UNPROCESSABLE when the number is impossible or there is no such account, CONFLICT while a live
 * agent of another account holds the number.
 */
export async function assignNumber(
  request: { readonly number: string; readonly accountId: string; readonly now: Date },
  parts: Assigning,
): Promise<void> {
  const { number, accountId, now } = request;
  if (!isPhoneNumber(number) && !BEGINNING.test(number)) {
    const expected = 'expected E.164, or its beginning and a star: +39061234*';
    throw unprocessable(`Cannot assign "${shown(number)}": ${expected}`);
  }
  if ((await parts.accounts.find(accountId)) === undefined) {
    const why = 'there is no such account';
    throw unprocessable(`Cannot assign to "${shown(accountId)}": ${why}`);
  }
  await parts.assignments.save({ number, accountId, assignedAt: now, assignedBy: 'operator' });
  await refuseHeld(number, parts);
}

/**
 * Removes an assignment: the number belongs to its trunk's account again. Run it as one transaction.
 *
 * @throws {ServiceError} NOT_FOUND when there is none, CONFLICT while a live agent holds the number whose account would
 * lose it.
 */
export async function unassignNumber(number: string, parts: Assigning): Promise<void> {
  if (!(await parts.assignments.remove(number))) {
    const why = 'it is not assigned to an account';
    throw new ServiceError('NOT_FOUND', `Cannot unassign "${shown(number)}": ${why}`);
  }
  await refuseHeld(number, parts);
}

/** Live agents that hold a number of another account; they do not answer it. */
export async function strangersOn(
  parts: Pick<Assigning, 'holders' | 'owners'>,
): Promise<readonly HeldNumber[]> {
  const ownerOf = await parts.owners.readAll();
  return (await parts.holders.everyLive()).filter(({ number, accountId }) => {
    const owner = ownerOf(number);
    return owner !== undefined && owner !== accountId;
  });
}

const BEGINNING = /^(\+\d{0,14})?\*$/;

const SHOWN_CHARS = 40;

function shown(text: string): string {
  return text.slice(0, SHOWN_CHARS);
}

async function refuseHeld(changed: string, parts: Assigning): Promise<void> {
  const stranger = (await strangersOn(parts)).find(({ number }) =>
    coveringOf(number).includes(changed),
  );
  if (stranger === undefined) return;
  const why = `an agent of another account holds ${stranger.number}; take it from that agent first`;
  throw conflict(`Cannot change the account of "${changed}": ${why}`);
}

/** The number, and the beginnings with a star that cover it, longest first. */
function coveringOf(number: string): readonly string[] {
  const written = number.endsWith('*') ? number.slice(0, -1) : number;
  const beginnings = Array.from(
    { length: written.length + 1 },
    (_, cut) => `${written.slice(0, written.length - cut)}*`,
  );
  return [number, ...beginnings];
}

/** A telephone number with its trunks, owner and agent. */
export interface ListedNumber {
  /** E.164, or the beginning of numbers and a star. */
  readonly number: string;
  readonly trunks: readonly string[];
  /** Account id of its owner; undefined where no trunk has it and it is not assigned. */
  readonly owner: string | undefined;
  /** Undefined where no agent of the asking account holds it. */
  readonly holder: HeldNumber | undefined;
  /** Whether any agent holds it, of this account or another. */
  readonly isTaken: boolean;
}

interface NumberParts {
  readonly trunks: Trunks;
  readonly holders: NumberHolders;
  readonly owners: NumberOwners;
  readonly assignments: Pick<NumberAssignments, 'list'>;
}

/**
 * A page of an account's numbers: numbers of its agents, and in the live environment its numbers of trunks and assignments. No
 * trunk leads to the sandbox.
 *
 * @param scope.isOperator shows the numbers of all accounts.
 */
export async function numberPage(
  parts: NumberParts,
  scope: Scope & { readonly isOperator: boolean },
  page: PageRange,
): Promise<Page<ListedNumber>> {
  const { trunks, holders, owners } = parts;
  const isLive = scope.environment === 'live';
  const ownerOf = await owners.readAll();
  const own = new Map((await holders.ofScope(scope)).map((held) => [held.number, held]));
  const known = isLive
    ? [...trunks.numbers, ...(await parts.assignments.list()).map(numberOf)]
    : [];
  const shown = known.filter((number) => scope.isOperator || ownerOf(number) === scope.accountId);
  const all = [...new Set([...shown, ...own.keys()])].sort();
  const numbers: ListedNumber[] = [];
  for (const number of all.slice(page.offset, page.offset + page.limit)) {
    const holder = own.get(number);
    numbers.push(
      isLive
        ? await liveNumber(parts, scope, number)
        : { number, trunks: [], owner: undefined, holder, isTaken: holder !== undefined },
    );
  }
  return { items: numbers, total: all.length };
}

/** One number as an account is shown it in the live environment. */
export async function liveNumber(
  { trunks, holders, owners }: NumberParts,
  { accountId }: Pick<Scope, 'accountId'>,
  number: string,
): Promise<ListedNumber> {
  const holder = await holders.liveHolderOf(number);
  return {
    number,
    trunks: trunks.trunksOf(number),
    owner: await owners.ownerOf(number),
    holder: holder?.accountId === accountId ? holder : undefined,
    isTaken: holder !== undefined,
  };
}

function numberOf({ number }: { readonly number: string }): string {
  return number;
}
