/** The system's form of an IPv4 address and port, `struct sockaddr_in`; pure */
import type { Source } from '../../../rtp/source-lock.ts';

export const ADDRESS_BYTES = 16;

const IPV4 = 2;

const DOTTED = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;

/**
 * Writes it over the first 8 bytes of `target`, whose other 8 stay 0.
 *
 *      0                   1                   2                   3
 *      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     | family, as the machine has it |       port, high byte first   |
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |                            address                            |
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *
 * @returns false when it is no IPv4 address in numbers, or no port.
 * @see ip(7)
 */
export function writeAddress({ address, port }: Source, target: Uint8Array): boolean {
  const parts = DOTTED.exec(address)?.slice(1).map(Number) ?? [];
  const isAddress = parts.length === 4 && parts.every((part) => part <= 255);
  if (!isAddress || !Number.isInteger(port) || port < 0 || port > 65_535) return false;
  target[0] = IPV4;
  target[1] = 0;
  target[2] = port >> 8;
  target[3] = port;
  target.set(parts, 4);
  return true;
}

export function readAddress(bytes: Uint8Array): Source {
  const [, , high = 0, low = 0, ...rest] = bytes;
  return { address: rest.slice(0, 4).join('.'), port: (high << 8) | low };
}
