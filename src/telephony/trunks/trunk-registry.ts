/** The trunks in effect: those of the operator's file, then those of the database, and the operator's view of them; pure */
import { isDeepStrictEqual } from 'node:util';
import type {
  AddressInUse,
  StoredTrunk,
  TrunkSettingsView,
  TrunkStatus,
  Trunks,
} from '../../domain/dialing/trunk.ts';
import { requireNoFaults } from '../../domain/service-error.ts';
import { TrunkNumbers } from './trunk-table.ts';
import {
  faultsOfTrunk,
  hostPortOf,
  parseTrunk,
  type Trunk,
  type TrunkFault,
  TrunkSettingsError,
} from './trunks.ts';

/** Source of a trunk's settings. */
export type TrunkSource = TrunkSettingsView['source'];

/** Finds a fault that makes a trunk unusable on this server despite valid settings; undefined without one. */
export type FindFault = (trunk: Trunk) => TrunkFault | undefined;

/** Holds the trunks of both sources. A trunk whose settings stay the same stays the same object. */
export class TrunkRegistry {
  readonly #ofFile: readonly Trunk[];
  readonly #findFault: FindFault;
  /** Which numbers the trunks have, now and after each change. */
  readonly numbers: TrunkNumbers;
  #stored: readonly Trunk[] = [];

  /**
   * @param ofFile trunks of the operator's file, which stay until the next start.
   * @param findFault default: no trunk has a fault.
   * @throws {TrunkSettingsError} naming the first trunk of the file that has a fault.
   */
  constructor(ofFile: readonly Trunk[], findFault: FindFault = () => undefined) {
    this.#ofFile = ofFile;
    this.#findFault = findFault;
    for (const trunk of ofFile) this.#refuse(trunk);
    this.numbers = new TrunkNumbers(ofFile);
  }

  /** In the order of preference. */
  get all(): readonly Trunk[] {
    return [...this.#ofFile, ...this.#stored];
  }

  find(name: string): Trunk | undefined {
    return this.all.find((trunk) => trunk.name === name);
  }

  sourceOf({ name }: Pick<Trunk, 'name'>): TrunkSource {
    return this.#ofFile.some((trunk) => trunk.name === name) ? 'file' : 'api';
  }

  /**
   * Takes the trunks of the database.
   *
   * @returns why trunks were left out: the file has one of the name, another version wrote settings that this one
   * cannot read, or the trunk has a fault.
   */
  replaceStored(stored: readonly StoredTrunk[]): readonly string[] {
    const problems: string[] = [];
    const trunks = stored.flatMap((each) => {
      const read = this.#read(each);
      if (typeof read !== 'string') return [read];
      problems.push(read);
      return [];
    });
    this.#stored = trunks;
    this.numbers.useTrunks(this.all);
    return problems;
  }

  #read(stored: StoredTrunk): Trunk | string {
    if (this.sourceOf(stored) === 'file') {
      return `Cannot use trunk "${stored.name}" of the database: the trunk file has one of this name`;
    }
    try {
      const trunk = trunkOfStored(stored);
      this.#refuse(trunk);
      const former = this.#stored.find(({ name }) => name === trunk.name);
      return former !== undefined && isDeepStrictEqual(former, trunk) ? former : trunk;
    } catch (error) {
      if (error instanceof TrunkSettingsError) return error.message;
      throw error;
    }
  }

  /** @throws {TrunkSettingsError} naming the trunk and its fault. */
  #refuse(trunk: Trunk): void {
    const fault = this.#findFault(trunk);
    if (fault === undefined) return;
    const { path, message } = fault;
    throw new TrunkSettingsError(`Cannot use trunk "${trunk.name}": its ${path} ${message}`);
  }
}

/**
 * Reads a trunk of the REST interface, by the validator of the file.
 *
 * @param findFault as for the registry.
 * @throws {ServiceError} VALIDATION_ERROR naming every wrong field.
 */
export function readTrunkSettings(
  settings: Readonly<Record<string, unknown>>,
  findFault: FindFault = () => undefined,
): TrunkSettingsView {
  requireNoFaults(faultsOfTrunk(settings));
  const trunk = parseTrunk(settings);
  requireNoFaults([findFault(trunk) ?? []].flat());
  return viewOfTrunk(trunk, 'api');
}

/** Lets settings pass whose password was forgotten. Never part of a trunk. */
const FORGOTTEN = 'forgotten';

/**
 * A user name without a password is what `forget-secrets` leaves: the trunk stays in view, to be given its password again.
 *
 * @throws {TrunkSettingsError} naming every wrong field.
 */
function trunkOfStored({ name, settings, password }: StoredTrunk): Trunk {
  if (password !== null) return parseTrunk({ ...settings, name, password });
  if (settings.username === undefined) return parseTrunk({ ...settings, name });
  const { password: _, ...trunk } = parseTrunk({ ...settings, name, password: FORGOTTEN });
  return trunk;
}

/** The trunk as the operator is shown it. */
export function viewOfTrunk(trunk: Trunk, source: TrunkSource): TrunkSettingsView {
  const { name, proxy, register, registerExpiresSeconds, optionsIntervalSeconds } = trunk;
  const { numbers, allowedSources, codecs, srtp, transfer, acceptTransfers } = trunk;
  return {
    ...{ name, source, transport: proxy.transport },
    proxy: `${proxy.isSips ? 'sips:' : ''}${hostPortOf(proxy)}`,
    domain: trunk.domain ?? null,
    username: trunk.username ?? null,
    hasPassword: trunk.password !== undefined,
    realm: trunk.realm ?? null,
    ...{ register, registerExpiresSeconds, optionsIntervalSeconds, numbers },
    callerId: trunk.callerId ?? null,
    callerIdHeader: trunk.callerIdHeader,
    account: trunk.account ?? null,
    ...{ allowedSources, codecs, srtp, transfer, acceptTransfers },
    maxCalls: trunk.maxCalls ?? null,
    callsPerSecond: trunk.callsPerSecond ?? null,
    advertisedAddress: trunk.advertisedAddress ?? null,
    price: trunk.price ?? null,
  };
}

/** Status of every trunk before telephony has been started. */
export const NOT_STARTED: TrunkStatus = {
  state: 'unregistered',
  detail: 'telephony has not been started',
  expiresAt: null,
};

const LOCAL: AddressInUse = { address: null, source: 'local' };

/**
 * The trunks in effect as the operator sees them: settings without passwords, status and calls.
 *
 * @param now.statusOf undefined before the start.
 * @param now.addressFor default: the local address for every trunk.
 */
export function operatorTrunks(
  registry: TrunkRegistry,
  now: {
    readonly statusOf: (trunk: Trunk) => TrunkStatus | undefined;
    readonly addressFor?: (trunk: Trunk) => AddressInUse;
    readonly callsOn: (trunk: Trunk) => number;
  },
): Trunks {
  const { numbers } = registry;
  return {
    list: () =>
      registry.all.map((trunk) => ({
        ...viewOfTrunk(trunk, registry.sourceOf(trunk)),
        ...(now.statusOf(trunk) ?? NOT_STARTED),
        addressInUse: now.addressFor?.(trunk) ?? LOCAL,
        callsInProgress: now.callsOn(trunk),
      })),
    get numbers() {
      return numbers.all;
    },
    trunksOf: numbers.trunksOf,
    accountOf: numbers.accountOf,
  };
}
