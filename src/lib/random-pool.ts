/** Random bytes drawn many at a time: asking the system for each id's few costs more than the rest of the id. */
import { randomBytes, randomFillSync } from 'node:crypto';

const POOL_BYTES = 4096;

/** Makes a source of cryptographically secure bytes. Each is given once, and wiped from the pool. */
export function randomPool(): (size: number) => Uint8Array<ArrayBuffer> {
  const pool = new Uint8Array(POOL_BYTES);
  let given = POOL_BYTES;
  return (size) => {
    if (size > POOL_BYTES) return randomBytes(size);
    if (given + size > POOL_BYTES) {
      randomFillSync(pool);
      given = 0;
    }
    const piece = pool.slice(given, given + size);
    pool.fill(0, given, given + size);
    given += size;
    return piece;
  };
}

/** Makes a source of secure whole numbers of 32 bits. */
export function uint32Pool(): () => number {
  const random = randomPool();
  return () => new DataView(random(4).buffer).getUint32(0);
}
