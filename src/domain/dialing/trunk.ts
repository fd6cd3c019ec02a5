/** SIP trunks as the operator sees them: status, settings without secrets, checks, changes, and the contract of their store. */

import type { AccountStore } from '../account/account-rules.ts';
import type { CallPrice } from '../call/call-cost.ts';
import { conflict, ServiceError, unprocessable } from '../service-error.ts';

/** Whether a trunk can take calls, and why. */
export interface TrunkStatus {
  /**
   * `ready`: registered, or in need of no registration while the proxy answers OPTIONS. `registering`: request sent, no answer
   * yet. `failed`: refused, or no answer; it is tried again. `unregistered`: no request, because the SIP server is away or the server stops.
   */
  readonly state: 'ready' | 'registering' | 'failed' | 'unregistered';
  /** In plain English, such as `registered with sip.example.com`. */
  readonly detail: string;
  /** Expiry of the registration unless renewed; null where there is none. */
  readonly expiresAt: Date | null;
}

/** Carrier's prices on a trunk for answered calls, by direction. Null: unknown. */
export interface TrunkPrice {
  readonly inbound: CallPrice | null;
  readonly outbound: CallPrice | null;
}

/** The settings of a trunk, without its password. Null: not set. */
export interface TrunkSettingsView {
  readonly name: string;
  /** `file`: of `sip-config/trunks.json`, which only its editor changes. `api`: of the database. */
  readonly source: 'file' | 'api';
  /** The carrier's proxy: host, and port where one is configured. */
  readonly proxy: string;
  readonly domain: string | null;
  readonly transport: 'udp' | 'tcp' | 'tls';
  readonly username: string | null;
  readonly hasPassword: boolean;
  readonly realm: string | null;
  readonly register: boolean;
  readonly registerExpiresSeconds: number;
  readonly optionsIntervalSeconds: number;
  /** E.164, or the beginning of numbers and a star. */
  readonly numbers: readonly string[];
  readonly callerId: string | null;
  readonly callerIdHeader: 'pai' | 'rpid' | 'from';
  /** Account id that its numbers belong to; null: the first account. */
  readonly account: string | null;
  readonly allowedSources: readonly string[];
  /** In the order of preference. */
  readonly codecs: readonly string[];
  readonly srtp: 'required' | 'preferred' | 'off';
  readonly transfer: 'auto' | 'refer' | 'bridge';
  /** Whether its far ends may move calls to another party (REFER, Replaces). */
  readonly acceptTransfers: boolean;
  /** Null where the operator set no limit. */
  readonly maxCalls: number | null;
  readonly callsPerSecond: number | null;
  readonly advertisedAddress: string | null;
  readonly price: TrunkPrice | null;
}

/** Our address as advertised to carriers now. */
export interface AddressInUse {
  /** IPv4; null for the local address, the source of our packets. */
  readonly address: string | null;
  /** Source: the set address, the set name, the address that carrier or STUN server see, or the local one. */
  readonly source: 'setting' | 'name' | 'carrier' | 'stun' | 'local';
}

/** A trunk with its settings, status and calls, without its password. */
export interface TrunkState extends TrunkStatus, TrunkSettingsView {
  readonly addressInUse: AddressInUse;
  readonly callsInProgress: number;
}

/** The trunks of the installation: those of the operator's file, then those of the database. */
export interface Trunks {
  /** In the order of preference. Never a password. */
  list(): readonly TrunkState[];

  /** Every number, or beginning and star, that some trunk has; each once, sorted. */
  readonly numbers: readonly string[];

  /** Names of the trunks that have the number, in the order of preference. */
  trunksOf(number: string): readonly string[];

  /** Account id in the settings of the first trunk with the number, null without one; undefined where no trunk has the number. */
  accountOf(number: string): string | null | undefined;
}

/** One step of a trunk's check. */
export interface TrunkCheckStep {
  readonly step: string;
  readonly ok: boolean;
  /** Finding of the step; where it is wrong, also advice. */
  readonly message: string;
}

/** Result of a trunk's check. */
export interface TrunkCheck {
  /** Whether every step is. */
  readonly ok: boolean;
  readonly steps: readonly TrunkCheckStep[];
}

/** A step of a check in progress. */
export interface TrunkCheckProgress {
  readonly step: string;
  /** `skipped`: a step before it made it impossible. */
  readonly state: 'waiting' | 'running' | 'ok' | 'failed' | 'skipped';
  /** Finding of the step; null unless `ok` or `failed`. */
  readonly message: string | null;
}

/** Follows a check in progress, and stops it. */
export interface TrunkCheckWatch {
  /** Called at every change, with all steps in their order; must not throw. */
  readonly onProgress: (steps: readonly TrunkCheckProgress[]) => void;
  /** Stops the check, which then rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/** Changes the trunks of a running server. */
export interface TrunkControl {
  /**
   * Reads settings as a trunk of the database has them.
   *
   * @param settings fields of a trunk, its name and password included.
   * @returns the view of the trunk.
   * @throws {ServiceError} VALIDATION_ERROR naming every wrong field.
   */
  read(settings: Readonly<Record<string, unknown>>): TrunkSettingsView;

  /** Puts the trunks of the database into effect, as they are saved by then. Calls in progress go on. */
  reload(): Promise<void>;

  /**
   * Checks a trunk step by step, in 25 s at most.
   *
   * @returns undefined without a trunk of that name.
   * @throws {ServiceError} SERVICE_UNAVAILABLE while too many checks are in progress; before the first call of `watch`.
   */
  check(name: string, watch?: TrunkCheckWatch): Promise<TrunkCheck | undefined>;
}

/** A trunk of the database. */
export interface StoredTrunk {
  readonly name: string;
  /** Fields as in `sip-config/trunks.json`, without name and password. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly password: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Keeps the trunks of the database. The writes may run inside of a transaction. */
export interface StoredTrunks {
  /** The oldest first. */
  list(): Promise<readonly StoredTrunk[]>;

  find(name: string): Promise<StoredTrunk | undefined>;

  /** Takes the place of a trunk of the same name. */
  save(trunk: StoredTrunk): Promise<void>;

  /** @returns whether there was one. */
  remove(name: string): Promise<boolean>;
}

/** Fields of a trunk as they come in; null takes a field away. */
type TrunkFields = Readonly<Record<string, unknown>>;

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
  throw unprocessable(`Cannot use account "${account}": ${why}`);
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
