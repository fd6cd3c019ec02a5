/** Opens connections to receivers, and only to addresses that webhooks may be sent to. */
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { addressRefusal, type WebhookUrlRules } from '../domain/webhook/webhook-url.ts';
import { AddressRefusedError } from './network-error.ts';
import type { ResolveName } from './resolve-name.ts';

/**
 * Makes undici's connector. The address that is checked is the address that the socket is connected to: a name is
 * resolved once for each connection, and what it resolves to later changes nothing.
 *
 * Of a name's addresses those that are refused are left out; when none is left, the name is refused.
 */
export function guardedConnector(options: {
  readonly rules: WebhookUrlRules;
  readonly resolve: ResolveName;
  readonly timeoutMs: number;
}): buildConnector.connector {
  const { timeoutMs: timeout } = options;
  const connectors = {
    'http:': buildConnector({ timeout, allowH2: false, lookup: guardedLookup('http:', options) }),
    'https:': buildConnector({ timeout, allowH2: false, lookup: guardedLookup('https:', options) }),
  };
  return (target, callback) => {
    const { protocol, hostname } = target;
    if (protocol !== 'http:' && protocol !== 'https:') {
      callback(new AddressRefusedError('its URL is neither https nor http'), null);
      return;
    }
    // Sockets do not look addresses up: what is written as an address is checked here.
    const literal = hostname.replace(/^\[|\]$/g, '');
    const refusal =
      isIP(literal) === 0 ? undefined : addressRefusal(literal, protocol, options.rules);
    if (refusal === undefined) connectors[protocol](target, callback);
    else callback(new AddressRefusedError(refusal), null);
  };
}

/** Looks a name up for a socket, and gives only addresses that webhooks may be sent to. */
export function guardedLookup(
  protocol: 'http:' | 'https:',
  options: { readonly rules: WebhookUrlRules; readonly resolve: ResolveName },
): LookupFunction {
  return (name, { all }, callback) => {
    resolveAllowed(name, protocol, options).then(
      (addresses) => {
        if (all === true) callback(null, addresses);
        else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

async function resolveAllowed(
  name: string,
  protocol: 'http:' | 'https:',
  { rules, resolve }: { readonly rules: WebhookUrlRules; readonly resolve: ResolveName },
): Promise<{ readonly address: string; readonly family: number }[]> {
  const addresses = await addressesOf(name, resolve);
  const refusals = addresses.map((address) => addressRefusal(address, protocol, rules));
  const allowed = addresses.filter((_, index) => refusals[index] === undefined);
  if (allowed.length === 0) {
    throw new AddressRefusedError(refusals[0] ?? 'its name has no address');
  }
  return allowed.map((address) => ({ address, family: isIP(address) }));
}

/** `localhost` means this machine whatever name servers say. @see RFC 6761, section 6.3 */
async function addressesOf(name: string, resolve: ResolveName): Promise<readonly string[]> {
  const bare = name.replace(/\.$/, '').toLowerCase();
  const isLocal = bare === 'localhost' || bare.endsWith('.localhost');
  return isLocal ? ['127.0.0.1', '::1'] : await resolve(name);
}
