/** Whether an address is one of this machine's own interfaces. */
import { networkInterfaces } from 'node:os';
import type { Clock } from './clock.ts';

/** Interfaces come and go seldom, and strangers ask often. */
const KEPT_MS = 2000;

/**
 * Compares with the addresses of the interfaces, of which it reads a new list every two seconds at most.
 *
 * A packet from outside cannot have such a source: Linux drops it (martian source, `accept_local` is off).
 */
export function ownAddressCheck(clock: Clock): (address: string) => boolean {
  let readAtMs = Number.NEGATIVE_INFINITY;
  let own: ReadonlySet<string> = new Set();
  return (address) => {
    if (clock.nowMs() - readAtMs > KEPT_MS) {
      const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
      own = new Set(all.map((each) => each.address.toLowerCase()));
      readAtMs = clock.nowMs();
    }
    return own.has(address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, ''));
  };
}
