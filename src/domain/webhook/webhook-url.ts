/** Rules against SSRF (server-side request forgery): which URLs and addresses webhooks may be sent to; pure */
import { isIP } from 'node:net';
import {
  type AddressRange,
  isLocalName,
  isLoopback,
  rangeOfAddress,
} from '../../lib/local-routes.ts';
import { ServiceError, unprocessable } from '../service-error.ts';

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
  const address = isLocalName(host) ? '127.0.0.1' : host;
  if (isIP(address) === 0) return url;
  const refusal = addressRefusal(address, url.protocol, rules);
  if (refusal !== undefined) {
    throw unprocessable(`Cannot use this url: ${refusal}`);
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
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** URL parsers drop tabs and line breaks: a URL that holds some is refused as a mistake. */
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
  if (!isLoopback(hostOf(url))) {
    throw wrong('expected https; http is taken for loopback hosts only');
  }
}

function wrong(message: string): ServiceError {
  return new ServiceError('VALIDATION_ERROR', `Cannot use url: ${message}`, [
    { path: 'url', message },
  ]);
}
