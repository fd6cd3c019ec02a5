/** Changes to the trunks of the database: what may be set up, changed and removed. */
import type { AccountStore } from '../account/account-store.ts';
import { ServiceError } from '../service-error.ts';
import type {
  StoredTrunk,
  StoredTrunks,
  TrunkControl,
  TrunkSettingsView,
  Trunks,
} from './trunk.ts';

/** Fields of a trunk as they come in; null takes a field away. */
export type TrunkFields = Readonly<Record<string, unknown>>;

interface Changing {
  readonly trunks: Trunks;
  readonly control: Pick<TrunkControl, 'read'>;
  readonly stored: StoredTrunks;
  readonly accounts: Pick<AccountStore, 'find'>;
}

/** More are not set up in one installation. */
const TRUNKS_MAX = 1000;

/**
 * Sets a trunk up in the database. Run it as one transaction.
 *
 * @throws {ServiceError} VALIDATION_ERROR naming every wrong field, CONFLICT when the name is taken, UNPROCESSABLE when
 * there is no such account.
 */
export async function createTrunk(
  fields: TrunkFields,
  { now, ...parts }: Changing & { readonly now: Date },
): Promise<TrunkSettingsView> {
  const given = withoutNulls(fields);
  const view = parts.control.read(given);
  const { name } = view;
  const isTaken = (await parts.stored.find(name)) !== undefined || ofFile(parts, name);
  if (isTaken) throw conflict(`Cannot set up trunk "${name}": there is one of this name`);
  if ((await parts.stored.list()).length >= TRUNKS_MAX) {
    throw conflict(`Cannot set up trunk "${name}": there are ${TRUNKS_MAX}, which is the limit`);
  }
  await requireAccount(view, parts);
  await parts.stored.save({ ...storedOf(given), name, createdAt: now, updatedAt: now });
  return view;
}

/**
 * Changes the given fields of a trunk of the database. Run it as one transaction.
 *
 * @throws {ServiceError} NOT_FOUND without such a trunk, CONFLICT when it is of the file, and as `createTrunk`.
 */
export async function changeTrunk(
  name: string,
  changes: TrunkFields,
  { now, ...parts }: Changing & { readonly now: Date },
): Promise<TrunkSettingsView> {
  const former = await storedTrunk(name, parts);
  const { settings, password } = former;
  const known = { ...settings, ...(password !== null && { password }) };
  const fields = withoutNulls({ name, ...known, ...changes });
  const view = parts.control.read(fields);
  if (view.name !== name) {
    throw conflict(`Cannot change the name of trunk "${name}": set up a new one instead`);
  }
  await requireAccount(view, parts);
  await parts.stored.save({ ...former, ...storedOf(fields), updatedAt: now });
  return view;
}

/**
 * Removes a trunk of the database. Run it as one transaction.
 *
 * @throws {ServiceError} NOT_FOUND without such a trunk, CONFLICT when it is of the file.
 */
export async function removeTrunk(
  name: string,
  parts: Pick<Changing, 'stored' | 'trunks'>,
): Promise<void> {
  await storedTrunk(name, parts);
  await parts.stored.remove(name);
}

/** @throws {ServiceError} NOT_FOUND for a name that no trunk has. */
export function noTrunk(name: string): ServiceError {
  const why = 'there is none of this name';
  return new ServiceError('NOT_FOUND', `Cannot find trunk "${name.slice(0, 64)}": ${why}`);
}

async function storedTrunk(
  name: string,
  parts: Pick<Changing, 'stored' | 'trunks'>,
): Promise<StoredTrunk> {
  if (ofFile(parts, name)) {
    throw conflict(
      `Cannot change trunk "${name}": it is set up in the trunk file (SIP_TRUNKS); change it there and restart the server`,
    );
  }
  const stored = await parts.stored.find(name);
  if (stored === undefined) throw noTrunk(name);
  return stored;
}

async function requireAccount(
  { account }: TrunkSettingsView,
  { accounts }: Pick<Changing, 'accounts'>,
): Promise<void> {
  if (account === null || (await accounts.find(account)) !== undefined) return;
  const why = 'there is no such account';
  throw new ServiceError('UNPROCESSABLE', `Cannot use account "${account}": ${why}`);
}

function ofFile({ trunks }: Pick<Changing, 'trunks'>, name: string): boolean {
  return trunks.list().some((trunk) => trunk.name === name && trunk.source === 'file');
}

function storedOf({ name: _, password, ...settings }: TrunkFields) {
  return { settings, password: typeof password === 'string' ? password : null };
}

function withoutNulls(fields: TrunkFields): TrunkFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function conflict(message: string): ServiceError {
  return new ServiceError('CONFLICT', message);
}
