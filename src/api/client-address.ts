/** Who a request without a key is counted as; pure */

/**
 * Names the client behind a socket address: IPv4 whole, IPv6 by its first 64 bits, because every subscriber has
 * that many addresses to choose from.
 *
 * @see RFC 6177
 */
export function clientOf(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return 'unknown';
  const ipv4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(remoteAddress)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [address = ''] = remoteAddress.split('%');
  return `${firstGroups(address.toLowerCase()).slice(0, 4).join(':')}::/64`;
}

/** The groups of an IPv6 address, with the ones that `::` stands for. */
function firstGroups(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const before = head.split(':').filter(Boolean);
  const after = (tail ?? '').split(':').filter(Boolean);
  const zeros = Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array<string>(zeros).fill('0'), ...after];
}
