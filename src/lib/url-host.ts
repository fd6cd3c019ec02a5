/** An address as URIs write it; pure */

/** IPv6 in brackets, once; names and IPv4 as they are. @see RFC 3986 section 3.2.2 */
export function urlHost(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
