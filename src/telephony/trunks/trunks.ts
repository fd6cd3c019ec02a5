/** SIP trunks as configured in `sip-config/trunks.json`, validated, and the SIP URIs that follow from them; pure */
import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { urlHost } from '../../lib/local-routes.ts';
import { ADVERTISED_ADDRESS_EXPECTED, isAdvertisable } from './advertised-address.ts';

/** Next hop of calls to the carrier. Without a port, its name is resolved by RFC 3263. */
export interface TrunkProxy {
  /** Host name or IP address; an IPv6 address without its brackets. */
  readonly host: string;
  readonly port: number | undefined;
  readonly transport: 'udp' | 'tcp';
}

/** One carrier as `sip-config/trunks.json` describes it. */
export type Trunk = z.output<typeof TRUNK>;

/** Names the trunk, the wrong fields, and the expected values. */
export class TrunkSettingsError extends Error {
  override readonly name = 'TrunkSettingsError';
}

const PROXY = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(?::(\d{1,5}))?(?:;transport=(udp|tcp))?$/;
const DOMAIN = /^[A-Za-z0-9.-]+$/;
const NUMBER = /^\+[1-9]\d{6,14}$/;
const NUMBER_PATTERN = /^(\+[1-9]\d{6,14}|\+\d{0,14}\*|\*)$/;

/** No quote, backslash or control character: the text goes into quoted strings of SIP headers. */
const HEADER_TEXT = /^[^"\\\p{Cc}]+$/u;

const proxy = z
  .string()
  .regex(PROXY, 'expected host, host:port or host:port;transport=tcp')
  .transform((text): TrunkProxy => {
    const [, host = '', port, transport] = PROXY.exec(text) ?? [];
    return {
      host: host.replace(/^\[|\]$/g, ''),
      port: port === undefined ? undefined : Number(port),
      transport: transport === 'tcp' ? 'tcp' : 'udp',
    };
  })
  .refine(({ port }) => port === undefined || (port > 0 && port < 65_536), {
    message: 'expected a port from 1 to 65535',
  });

const network = z
  .string()
  .refine(isNetwork, 'expected an IP address or a network such as 203.0.113.0/24');

const headerText = z
  .string()
  .min(1)
  .max(255)
  .regex(HEADER_TEXT, 'expected text without quotes, backslashes and control characters');

const TRUNK = z
  .strictObject({
    name: z
      .string()
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
        'expected letters, digits, dot, dash, underscore',
      ),
    proxy,
    domain: z.string().regex(DOMAIN, 'expected a host name').optional(),
    username: headerText
      .regex(/^[^\s@:;<>]+$/, 'expected a SIP user name, without host')
      .optional(),
    password: z.string().min(1).max(255).optional(),
    realm: headerText.optional(),
    register: z.boolean().default(false),
    registerExpiresSeconds: z.number().int().min(60).max(86_400).default(300),
    optionsIntervalSeconds: z
      .number()
      .int()
      .refine(
        (seconds) => seconds === 0 || (seconds >= 5 && seconds <= 3600),
        'expected 5 to 3600, or 0 for never',
      )
      .default(30),
    account: z
      .string()
      .regex(/^acct_[0-9A-Za-z_]{1,64}$/, 'expected the id of an account, such as acct_0VbZOZK8')
      .optional(),
    callerId: z.string().regex(NUMBER, 'expected E.164, such as +390612345678').optional(),
    numbers: z
      .array(
        z.string().regex(NUMBER_PATTERN, 'expected E.164, or its beginning and a star: +39061234*'),
      )
      .max(10_000)
      .default([]),
    codecs: z
      .array(z.enum(['PCMU', 'PCMA'], 'expected PCMU or PCMA'))
      .min(1)
      .default(['PCMU', 'PCMA']),
    transfer: z.enum(['auto', 'refer', 'bridge'], 'expected auto, refer or bridge').default('auto'),
    allowedSources: z.array(network).max(1000).default([]),
    advertisedAddress: z.string().refine(isAdvertisable, ADVERTISED_ADDRESS_EXPECTED).optional(),
    maxCalls: z.number().int().min(1).optional(),
    callsPerSecond: z.number().min(0.1).max(1000).optional(),
  })
  .refine(({ username, password }) => (username === undefined) === (password === undefined), {
    path: ['password'],
    message: 'expected a username and a password, or neither',
  })
  .refine(({ register, username }) => !register || username !== undefined, {
    path: ['register'],
    message: 'expected a username and a password where register is true',
  });

/**
 * Parses the trunks of `sip-config/trunks.json` after the insertion of secrets.
 *
 * @param json array of trunks; see sip-config/README.md for each field.
 * @param file file name for error messages.
 * @throws {TrunkSettingsError} naming the file, and every wrong trunk and field.
 */
export function parseTrunks(json: string, file = 'sip-config/trunks.json'): readonly Trunk[] {
  const cannot = `Cannot use the SIP trunks of "${file}"`;
  const settings = parseJson(json, cannot);
  const result = z.array(TRUNK).max(1000).safeParse(settings);
  if (!result.success) {
    const problems = result.error.issues.map(({ path, message }) => {
      const [index, ...field] = path;
      const where = field.length === 0 ? '' : `${field.join('.')}: `;
      return `${nameOf(settings, index)}: ${where}${message}`;
    });
    throw new TrunkSettingsError(`${cannot}:\n  ${problems.join('\n  ')}`);
  }
  const twice = result.data.find(
    ({ name }, at, all) => all.findIndex((other) => other.name === name) !== at,
  );
  if (twice !== undefined) {
    throw new TrunkSettingsError(
      `${cannot}:\n  trunk "${twice.name}": name: another trunk has it already`,
    );
  }
  return result.data;
}

function parseJson(json: string, cannot: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    // The parser's own message quotes the text, which holds passwords.
    const message = `${cannot}: expected a list of trunks as JSON; see sip-config/README.md`;
    throw new TrunkSettingsError(message, { cause: error });
  }
}

/** Name of the trunk, otherwise its position in the list, from 1. */
function nameOf(settings: unknown, index: PropertyKey | undefined): string {
  if (typeof index !== 'number' || !Array.isArray(settings)) return 'the list of trunks';
  const trunk: unknown = settings[index];
  const hasName =
    typeof trunk === 'object' &&
    trunk !== null &&
    'name' in trunk &&
    typeof trunk.name === 'string' &&
    trunk.name !== '';
  return hasName ? `trunk "${trunk.name}"` : `trunk number ${index + 1}`;
}

function isNetwork(text: string): boolean {
  try {
    addNetwork(new BlockList(), text);
    return true;
  } catch {
    // What node:net cannot read is no network.
    return false;
  }
}

/**
 * Adds an IP address or a network in CIDR form to a list of addresses.
 *
 * @throws {Error} when it is neither.
 */
export function addNetwork(list: BlockList, text: string): void {
  const [address = '', prefix] = text.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (prefix === undefined) list.addAddress(address, family);
  else list.addSubnet(address, /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN, family);
}

/** Domain of the trunk's numbers and names. */
export function domainOf({ domain, proxy }: Trunk): string {
  return domain ?? hostOf(proxy);
}

/** Request-URI of a call: the number at the trunk's domain, or at its proxy without a domain. */
export function targetUriOf({ domain, proxy }: Trunk, number: string): string {
  return `sip:${number}@${domain ?? hostPortOf(proxy)}`;
}

/** Request-URI of REGISTER: with the port of a proxy that has no domain, so that a registrar on the SIP server's own machine is not taken for it. */
export function registrarUriOf({ domain, proxy }: Trunk): string {
  return `sip:${domain ?? hostPortOf(proxy)}`;
}

/** The next hop of every request. */
export function proxyUriOf({ proxy }: Trunk): string {
  return `sip:${hostPortOf(proxy)}${proxy.transport === 'tcp' ? ';transport=tcp' : ''}`;
}

export function hostPortOf(proxy: TrunkProxy): string {
  return proxy.port === undefined ? hostOf(proxy) : `${hostOf(proxy)}:${proxy.port}`;
}

/** Host and port of a sip URI, without its user and parameters. */
export function hostOfUri(uri: string): string {
  return uri.replace(/^sips?:(?:[^@]*@)?/i, '').replace(/[;?].*$/, '');
}

function hostOf({ host }: TrunkProxy): string {
  return urlHost(host);
}
