/** Where the phone's WebSocket is, as seen from the page; pure */

/**
 * The server may be reached by another name than its own, below a path that a proxy has put it at.
 *
 * @param url as the server gave it, with the ticket in its query.
 * @param pageUrl the page's own address.
 */
export function socketAddress(url: string, pageUrl: string): string {
  const address = new URL(`dashboard/sip${new URL(url).search}`, pageUrl);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  return address.href;
}
