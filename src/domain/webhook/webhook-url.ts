/** Rules against SSRF (server-side request forgery): which URLs and addresses webhooks may be sent to; pure */
import { BlockList, isIP } from 'node:net';
import { ServiceError } from '../service-error.ts';

/** Receivers that the operator allows besides public servers. */
export interface WebhookUrlRules {
  /** Receivers on this machine, over http too; for development. */
  readonly allowLocal: boolean;
  /** Receivers in the operator's own network and on this machine, over https. */
  readonly allowPrivate: boolean;
}

/** Longest URL of an endpoint, in characters. */
export const WEBHOOK_URL_CHARS_MAX = 2048;

/**
 * Reads the URL of an endpoint as a customer writes it. Names are not resolved here: `addressRefusal` decides about
 * their addresses at every delivery.
 *
 * @throws {ServiceError} VALIDATION_ERROR when it is not a URL that webhooks are sent to; UNPROCESSABLE when its host is an
 *   address, or a name, that is refused.
 */
export function checkWebhookUrl(text: string, rules: WebhookUrlRules): URL {
  const url = parseUrl(text);
  checkScheme(url, rules);
  const host = hostOf(url);
  const address = isLoopbackName(host) ? '127.0.0.1' : host;
  if (isIP(address) === 0) return url;
  const refusal = addressRefusal(address, url.protocol, rules);
  if (refusal !== undefined) {
    throw new ServiceError('UNPROCESSABLE', `Cannot send webhooks to this url: ${refusal}`);
  }
  return url;
}

/**
 * Why no connection to `address` is opened; undefined when it may be opened. To be asked about the very address that
 * the socket will be connected to.
 *
 * @param protocol `https:` or `http:`, as `URL` writes it.
 */
export function addressRefusal(
  address: string,
  protocol: string,
  rules: WebhookUrlRules,
): string | undefined {
  const range = rangeOfAddress(address);
  if (protocol === 'http:' && range !== 'loopback') {
    return 'http is taken for this machine only, and its host is elsewhere';
  }
  return mayReach(range, rules) ? undefined : REFUSALS[range];
}

const REFUSALS: Readonly<Record<AddressRange, string>> = {
  public: 'its host is on the public Internet',
  loopback: 'its host is the server itself, and WEBHOOK_ALLOW_LOCAL is not set',
  private: 'its host has a private address, and WEBHOOK_ALLOW_PRIVATE is not set',
  never: 'its host has an address that is kept for special purposes',
};

function mayReach(range: AddressRange, rules: WebhookUrlRules): boolean {
  switch (range) {
    case 'public':
      return true;
    case 'loopback':
      return rules.allowLocal || rules.allowPrivate;
    case 'private':
      return rules.allowPrivate;
    case 'never':
      return false;
    default:
      return range satisfies never;
  }
}

/** The name or address that a URL leads to, IPv6 without its brackets, a name without the dot that ends it. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** URL parsers drop tabs and line breaks: a URL that holds some is not what the customer meant. */
const NOT_IN_URLS = /[\s\p{Cc}]/u;

/** URL parsers make a host of `https:hook` and of `https:/hook`, which their writer may have meant as a path. */
const HAS_HOST = /^[a-z][a-z\d+.-]*:\/\/[^/]/i;

function parseUrl(text: string): URL {
  if (text.length > WEBHOOK_URL_CHARS_MAX) {
    throw wrong(`expected at most ${WEBHOOK_URL_CHARS_MAX} characters`);
  }
  if (NOT_IN_URLS.test(text) || !HAS_HOST.test(text) || !URL.canParse(text)) {
    throw wrong('expected an absolute URL, beginning with https://');
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    throw wrong('expected a URL without user name and password');
  }
  if (url.port === '0') throw wrong('expected a port from 1 to 65535');
  return url;
}

function checkScheme(url: URL, rules: WebhookUrlRules): void {
  if (url.protocol === 'https:') return;
  if (url.protocol !== 'http:' || !rules.allowLocal) throw wrong('expected https');
  const host = hostOf(url);
  if (!isLoopbackName(host) && rangeOfAddress(host) !== 'loopback') {
    throw wrong('expected https; http is taken for loopback hosts only');
  }
}

/** @see RFC 6761, section 6.3 */
function isLoopbackName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

function wrong(message: string): ServiceError {
  return new ServiceError('VALIDATION_ERROR', `Cannot use url: ${message}`, [
    { path: 'url', message },
  ]);
}

/**
 * `public` is reachable by everybody; `loopback` is this machine; `private` is a network of the operator's own;
 * `never` is for no ordinary server: metadata services, link-local, multicast, documentation, translated addresses.
 */
type AddressRange = 'public' | 'loopback' | 'private' | 'never';

/**
 * Each list is asked in this order, so that one address of a network may differ from the rest of it.
 *
 * @see IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), and the manuals of the clouds for theirs
 */
const NETWORKS = [
  ['never', ['100.100.100.200/32', '168.63.129.16/32', 'fd00:ec2::/32', 'fd20:ce::/64']],
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7']],
  [
    'never',
    [
      '0.0.0.0/8',
      '169.254.0.0/16',
      '192.0.0.0/24',
      '192.0.2.0/24',
      '192.88.99.0/24',
      '198.18.0.0/15',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '224.0.0.0/4',
      '240.0.0.0/4',
      '2001::/23',
      '2001:db8::/32',
      '2002::/16',
      '3fff::/20',
    ],
  ],
] as const;

const LISTS = NETWORKS.map(([range, networks]) => [range, blockListOf(networks)] as const);

/** All of IPv6 that anybody may be given; what lies outside, such as NAT64, is not asked further. */
const GLOBAL_IPV6 = blockListOf(['2000::/3']);

/**
 * Tells the range of an address.
 *
 * An IPv4 address inside an IPv6 one (`::ffff:a.b.c.d`) counts as the IPv4 address. Text that is no address, or names
 * an interface (`fe80::1%eth0`), is `never`.
 */
export function rangeOfAddress(address: string): AddressRange {
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0) return 'never';
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const found = LISTS.find(([, list]) => list.check(address, family));
  if (found !== undefined) return found[0];
  const isGlobal = family === 'ipv4' || isMapped(address) || GLOBAL_IPV6.check(address, family);
  return isGlobal ? 'public' : 'never';
}

const EVERY_IPV4 = blockListOf(['0.0.0.0/1', '128.0.0.0/1']);

/** The lists take `::ffff:a.b.c.d` for its IPv4 address. */
function isMapped(address: string): boolean {
  return EVERY_IPV4.check(address, 'ipv6');
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
