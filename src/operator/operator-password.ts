/** The operator's password: stored as a scrypt hash among the server's secrets; hashed outside the main thread. */
import { scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { SecretStore } from '../domain/account/bootstrap.ts';
import { normalPassword } from '../domain/account/operator.ts';
import type { RandomBytes } from '../domain/ids.ts';
import { ServiceError } from '../domain/service-error.ts';

/** Its name among the server's secrets. */
export const PASSWORD_SECRET = 'operator-password';

/** 128 MiB and most of a second of one processor for each guess. @see OWASP Password Storage Cheat Sheet, scrypt */
const COST_LOG2 = 17;
const BLOCK_SIZE = 8;
const PARALLELISM = 1;

const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Passwords being checked, all but one of them waiting: each takes memory and a processor from the calls. */
const WAITING_MAX = 8;

/** How a hash was made: read from the record, so that passwords outlive a change of the numbers above. */
interface Work {
  readonly costLog2: number;
  readonly blockSize: number;
  readonly parallelism: number;
  readonly salt: Buffer;
}

/** A password's record: `scrypt$17$8$1$<salt>$<hash>`, both in base64url. */
export type PasswordRecord = string;

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);

export class OperatorPassword {
  readonly #secrets: SecretStore;
  readonly #random: RandomBytes;
  readonly #costLog2: number;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** @param options.costLog2 Binary logarithm of scrypt's N; less than the usual only where nothing is at stake. */
  constructor(options: {
    readonly secrets: SecretStore;
    readonly random: RandomBytes;
    readonly costLog2?: number;
  }) {
    this.#secrets = options.secrets;
    this.#random = options.random;
    this.#costLog2 = options.costLog2 ?? COST_LOG2;
  }

  /** As it is kept now, perhaps by another process; undefined when none has been set. */
  async record(): Promise<PasswordRecord | undefined> {
    return this.#secrets.find(PASSWORD_SECRET);
  }

  /** @throws {ServiceError} SERVICE_UNAVAILABLE when too many wait. */
  async isRight(password: string, record: PasswordRecord): Promise<boolean> {
    const { work, hash } = readRecord(record);
    return timingSafeEqual(await this.#hash(password, work), hash);
  }

  /**
   * Puts a password in the place of `known`.
   *
   * @returns the new record; undefined when another one was set meanwhile.
   * @throws {ServiceError} SERVICE_UNAVAILABLE when too many wait.
   */
  async set(
    password: string,
    known: PasswordRecord | undefined,
  ): Promise<PasswordRecord | undefined> {
    const salt = Buffer.from(this.#random(SALT_BYTES));
    const facts = { costLog2: this.#costLog2, blockSize: BLOCK_SIZE, parallelism: PARALLELISM };
    const hash = await this.#hash(password, { ...facts, salt });
    const numbers = [this.#costLog2, BLOCK_SIZE, PARALLELISM];
    const texts = [salt, hash].map((bytes) => bytes.toString('base64url'));
    const record = ['scrypt', ...numbers, ...texts].join('$');
    return (await this.#secrets.exchange(PASSWORD_SECRET, known, record)) ? record : undefined;
  }

  /** One after the other, on a thread of Node's pool. */
  async #hash(password: string, work: Work): Promise<Buffer> {
    if (this.#waiting >= WAITING_MAX) {
      throw new ServiceError(
        'SERVICE_UNAVAILABLE',
        'Cannot check the password now: too many others are being checked; retry in some seconds',
      );
    }
    this.#waiting += 1;
    const hash = this.#last.then(() => hashOf(password, work));
    this.#last = hash.catch(() => undefined);
    try {
      return await hash;
    } finally {
      this.#waiting -= 1;
    }
  }
}

function hashOf(password: string, work: Work): Promise<Buffer> {
  const cost = 2 ** work.costLog2;
  return derive(normalPassword(password), work.salt, HASH_BYTES, {
    cost,
    blockSize: work.blockSize,
    parallelization: work.parallelism,
    // What scrypt needs, 128 × N × r octets, and as much to spare.
    maxmem: 2 * 128 * cost * work.blockSize,
  });
}

function readRecord(record: PasswordRecord): { readonly work: Work; readonly hash: Buffer } {
  const [, costLog2, blockSize, parallelism, salt = '', hash = ''] = record.split('$');
  const bytes = Buffer.from(hash, 'base64url');
  if (bytes.length !== HASH_BYTES) throw new Error('The password kept in the database is no hash');
  return {
    work: {
      costLog2: Number(costLog2),
      blockSize: Number(blockSize),
      parallelism: Number(parallelism),
      salt: Buffer.from(salt, 'base64url'),
    },
    hash: bytes,
  };
}
