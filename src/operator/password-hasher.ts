/** Passwords of users: kept as scrypt hashes, and hashed outside the main thread. */
import { scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { normalPassword } from '../domain/account/user.ts';
import type { RandomBytes } from '../domain/ids.ts';
import { ServiceError } from '../domain/service-error.ts';

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

/** Hashes and checks passwords with scrypt, one after another. */
export class PasswordHasher {
  readonly #random: RandomBytes;
  readonly #costLog2: number;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #decoy: PasswordRecord | undefined;

  /** @param options.costLog2 Binary logarithm of scrypt's N; below the default only without real passwords. */
  constructor(options: { readonly random: RandomBytes; readonly costLog2?: number }) {
    this.#random = options.random;
    this.#costLog2 = options.costLog2 ?? COST_LOG2;
  }

  /**
   * Checks a password.
   *
   * @param record null where there is no such user: the answer is false and takes as long.
   * @throws {ServiceError} SERVICE_UNAVAILABLE when too many wait.
   */
  async isRight(password: string, record: PasswordRecord | null): Promise<boolean> {
    const { work, hash } = readRecord(record ?? this.#decoyRecord());
    const isSame = timingSafeEqual(await this.#hash(password, work), hash);
    return isSame && record !== null;
  }

  /** Makes the record of a password. @throws {ServiceError} SERVICE_UNAVAILABLE when too many wait. */
  async record(password: string): Promise<PasswordRecord> {
    const work = this.#newWork();
    return recordOf(work, await this.#hash(password, work));
  }

  /** Stored form that no password matches: its hash is random. */
  #decoyRecord(): PasswordRecord {
    this.#decoy ??= recordOf(this.#newWork(), Buffer.from(this.#random(HASH_BYTES)));
    return this.#decoy;
  }

  #newWork(): Work {
    const facts = { costLog2: this.#costLog2, blockSize: BLOCK_SIZE, parallelism: PARALLELISM };
    return { ...facts, salt: Buffer.from(this.#random(SALT_BYTES)) };
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
    // Twice the memory that scrypt needs, 128 × N × r octets.
    maxmem: 2 * 128 * cost * work.blockSize,
  });
}

function recordOf({ costLog2, blockSize, parallelism, salt }: Work, hash: Buffer): PasswordRecord {
  const texts = [salt, hash].map((bytes) => bytes.toString('base64url'));
  return ['scrypt', costLog2, blockSize, parallelism, ...texts].join('$');
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
