/** Guards against SSRF (server-side request forgery): webhooks connect only to allowed addresses, checked at connection time. */
import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import { addressRefusal, type WebhookUrlRules } from '../domain/webhook/webhook-url.ts';
import { isLocalName } from '../lib/local-routes.ts';
import { AddressRefusedError } from './answer.ts';

/** Servers keep idle connections for 5 seconds and more; a request over one that they have just closed would fail. */
const IDLE_CONNECTION_MS = 4000;

/** Which addresses may be connected to, and how names are resolved. */
export interface GuardOptions {
  readonly rules: WebhookUrlRules;
  /** This machine's `nameResolver` unless given. */
  readonly resolve?: ResolveName;
}

interface ConnectionLimits {
  /** Time limit for name look-up, connection and TLS. */
  readonly timeoutMs: number;
  /** To one host at most; unlimited unless given. */
  readonly connections?: number;
}

/** Sends requests over pooled connections to checked addresses, without redirects. */
export class GuardedHttp {
  readonly #agent: Agent;
  readonly #userAgent: string;

  /** @param options.version of the server, for the `User-Agent`. */
  constructor({
    version,
    ...options
  }: GuardOptions & ConnectionLimits & { readonly version: string }) {
    this.#agent = guardedAgent(options);
    this.#userAgent = `Offhook/${version}`;
  }

  /** @throws {Error} when there is no answer, or the address is refused; the signal's reason when aborted. */
  request(
    url: URL | string,
    asked: Pick<Dispatcher.RequestOptions, 'method' | 'body' | 'signal'> & {
      readonly headers: Readonly<Record<string, string>>;
    },
  ): Promise<Dispatcher.ResponseData> {
    const headers = { ...asked.headers, 'User-Agent': this.#userAgent };
    return request(url, { ...asked, headers, dispatcher: this.#agent });
  }

  /** Breaks every connection off. Safe to call twice. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** Pooled connections to checked addresses, each with one request at a time. The sender limits the time of a request as a whole. */
export function guardedAgent({
  connections,
  rules,
  resolve = nameResolver(),
  timeoutMs,
}: GuardOptions & ConnectionLimits): Agent {
  return new Agent({
    connect: ssrfGuard({ rules, resolve, timeoutMs }),
    allowH2: false,
    pipelining: 1,
    connections: connections ?? null,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_CONNECTION_MS,
  });
}

/**
 * Makes undici's connector. A name is resolved once for each connection, and the socket connects to one of the addresses
 * that were checked. Refused addresses are left out; when none is left, the name is refused with `AddressRefusedError`.
 */
export function ssrfGuard(options: {
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
    // Sockets do not look addresses up: a literal address is checked here.
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

async function addressesOf(name: string, resolve: ResolveName): Promise<readonly string[]> {
  return isLocalName(name) ? ['127.0.0.1', '::1'] : await resolve(name);
}

/** Resolves a name to addresses in the order to try them. Rejects when there are none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

const QUERY_MS_MAX = 3000;
const QUERY_TRIES = 2;

/** Names that wait for the system's own look-up. */
const SYSTEM_QUEUE_MAX = 64;

/** Sources of a name's addresses; each rejects where a name is not known. */
interface NameSources {
  /** IPv4 addresses, from the name servers. */
  readonly resolve4: ResolveName;
  /** IPv6 addresses, from the name servers. */
  readonly resolve6: ResolveName;
  /** Look-up by the system: `/etc/hosts` and the like, in a thread that files need too. */
  readonly lookup: ResolveName;
}

/**
 * Asks the name servers; names that they do not know, such as those of `/etc/hosts`, are looked up by the system, one
 * at a time.
 *
 * @param sources This machine's unless given.
 */
export function nameResolver(sources: NameSources = machineSources()): ResolveName {
  const bySystem = oneAtATime(sources.lookup);
  return async (name) => {
    const answers = await Promise.allSettled([sources.resolve4(name), sources.resolve6(name)]);
    const addresses = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value : [],
    );
    return addresses.length > 0 ? addresses : bySystem(name);
  };
}

function machineSources(): NameSources {
  const resolver = new Resolver({ timeout: QUERY_MS_MAX, tries: QUERY_TRIES });
  return {
    resolve4: (name) => resolver.resolve4(name),
    resolve6: (name) => resolver.resolve6(name),
    lookup: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  };
}

function oneAtATime(look: ResolveName): ResolveName {
  let isBusy = false;
  const waiting: (() => void)[] = [];
  return async (name) => {
    if (waiting.length >= SYSTEM_QUEUE_MAX) throw tooMany(name);
    // A look-up that ends hands its place over, so that a newer one cannot take it.
    if (isBusy) await new Promise<void>((resolve) => waiting.push(resolve));
    isBusy = true;
    try {
      return await look(name);
    } finally {
      const next = waiting.shift();
      if (next === undefined) isBusy = false;
      else next();
    }
  };
}

function tooMany(name: string): Error {
  const message = `Cannot look up "${name}": too many names wait already`;
  return Object.assign(new Error(message), { code: 'EAI_AGAIN' });
}
