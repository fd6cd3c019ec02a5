/** SIP trunks as configured in `sip-config/trunks.json`, validated, and the SIP URIs that follow from them; pure */
import { BlockList, isIP } from 'node:net';
import type { TrunkPrice } from '../../domain/dialing/trunk.ts';
import { urlHost } from '../../lib/local-routes.ts';
import { isObject } from '../../lib/unknown-value.ts';
import { CODEC_NAMES, type CodecName, USUAL_CODECS } from '../../rtp/codecs.ts';
import { SRTP_POLICIES, type SrtpPolicy } from '../../rtp/srtp/sdes.ts';
import { ADVERTISED_ADDRESS_EXPECTED, isAdvertisable } from './advertised-address.ts';
import { faultsOfPrice, type PriceSettings, trunkPriceOf } from './trunk-price.ts';

/** Next hop of calls to the carrier. Without a port, its name is resolved by RFC 3263. */
export interface TrunkProxy {
  /** Host name or IP address; an IPv6 address without its brackets. */
  readonly host: string;
  readonly port: number | undefined;
  readonly transport: 'udp' | 'tcp' | 'tls';
  /** True for a proxy `sips:host`: URIs of its calls are `sips`. RFC 3261, 26.2.2. */
  readonly isSips: boolean;
}

/** One carrier as `sip-config/trunks.json` describes it; see sip-config/README.md for each field. */
export interface Trunk {
  readonly name: string;
  readonly proxy: TrunkProxy;
  readonly domain?: string;
  /** Given with `password`, or not at all. */
  readonly username?: string;
  readonly password?: string;
  readonly realm?: string;
  readonly register: boolean;
  readonly registerExpiresSeconds: number;
  /** 0 sends no OPTIONS. */
  readonly optionsIntervalSeconds: number;
  /** Id of the account that the trunk's numbers belong to. */
  readonly account?: string;
  readonly callerId?: string;
  /** Headers besides From that have the calling number: P-Asserted-Identity (RFC 3325), Remote-Party-ID as well, or none. */
  readonly callerIdHeader: 'pai' | 'rpid' | 'from';
  /** E.164 numbers, and beginnings of numbers with a star. */
  readonly numbers: readonly string[];
  /** The best first. */
  readonly codecs: readonly CodecName[];
  readonly srtp: SrtpPolicy;
  readonly transfer: 'auto' | 'refer' | 'bridge';
  /** Whether its far ends may move calls to another party, by REFER or by INVITE with Replaces. */
  readonly acceptTransfers: boolean;
  /** IP addresses and networks in CIDR form. */
  readonly allowedSources: readonly string[];
  readonly advertisedAddress?: string;
  readonly maxCalls?: number;
  readonly callsPerSecond?: number;
  readonly price?: TrunkPrice;
}

/** A wrong field of a trunk: its path, such as `numbers.0`, and what was expected there. */
export interface TrunkFault {
  readonly path: string;
  readonly message: string;
}

/** Names the trunk, the wrong fields, and the expected values. */
export class TrunkSettingsError extends Error {
  override readonly name = 'TrunkSettingsError';
}

const PROXY =
  /^(?:(sips):)?(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(?::(\d{1,5}))?(?:;transport=(udp|tcp|tls))?$/;
const NUMBER = /^\+[1-9]\d{6,14}$/;
const NUMBER_PATTERN = /^(\+[1-9]\d{6,14}|\+\d{0,14}\*|\*)$/;

/** No quote, backslash or control character: the text goes into quoted strings of SIP headers. */
const HEADER_TEXT = /^[^"\\\p{Cc}]{1,255}$/u;

/** Rule for a value: the expectation in words, and the test. */
interface Check {
  readonly expected: string;
  readonly allows: (value: unknown) => boolean;
}

function textWhere(allows: (text: string) => boolean, expected: string): Check {
  return { expected, allows: (value) => typeof value === 'string' && allows(value) };
}

function matching(pattern: RegExp, expected: string): Check {
  return textWhere((text) => pattern.test(text), expected);
}

function oneOf(...names: readonly string[]): Check {
  const expected = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
  return textWhere((text) => names.includes(text), expected);
}

const YES_OR_NO: Check = {
  expected: 'true or false',
  allows: (value) => typeof value === 'boolean',
};

function number(min: number, max: number): Check {
  const allows = (value: unknown) => typeof value === 'number' && value >= min && value <= max;
  return { expected: `a number from ${min} to ${max}`, allows };
}

function wholeNumber(min: number, max: number, expected?: string): Check {
  return {
    expected: expected ?? `a whole number from ${min} to ${max}`,
    allows: (value) => Number.isInteger(value) && number(min, max).allows(value),
  };
}

const NOT_EMPTY = textWhere(
  ({ length }) => length > 0 && length <= 255,
  'text of 1 to 255 characters',
);

/** The checks of a trunk's fields, in the order of the manual. */
const FIELDS: Readonly<Record<Exclude<keyof TrunkSettings, 'price'>, Check>> = {
  name: matching(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'letters, digits, dot, dash, underscore; 64 at most',
  ),
  proxy: textWhere(
    (text) => PROXY.test(text) && !/^sips:.*;transport=(udp|tcp)$/.test(text),
    'host, host:port, host:port;transport=tcp, host:port;transport=tls or sips:host:port',
  ),
  transport: oneOf('udp', 'tcp', 'tls'),
  domain: matching(/^[A-Za-z0-9.-]+$/, 'a host name'),
  username: textWhere(
    (text) => HEADER_TEXT.test(text) && /^[^\s@:;<>]+$/.test(text),
    'a SIP user name, without host',
  ),
  password: NOT_EMPTY,
  realm: matching(HEADER_TEXT, 'text without quotes, backslashes and control characters'),
  register: YES_OR_NO,
  registerExpiresSeconds: wholeNumber(60, 86_400),
  optionsIntervalSeconds: {
    expected: '5 to 3600, or 0 for never',
    allows: (value) => value === 0 || wholeNumber(5, 3600).allows(value),
  },
  account: matching(/^acct_[0-9A-Za-z_]{1,64}$/, 'the id of an account, such as acct_0VbZOZK8'),
  callerId: matching(NUMBER, 'E.164, such as +390612345678'),
  callerIdHeader: oneOf('pai', 'rpid', 'from'),
  numbers: matching(NUMBER_PATTERN, 'E.164, or its beginning and a star: +39061234*'),
  codecs: oneOf(...CODEC_NAMES),
  srtp: oneOf(...SRTP_POLICIES),
  transfer: oneOf('auto', 'refer', 'bridge'),
  acceptTransfers: YES_OR_NO,
  allowedSources: textWhere(isNetwork, 'an IP address or a network such as 203.0.113.0/24'),
  advertisedAddress: textWhere(isAdvertisable, ADVERTISED_ADDRESS_EXPECTED),
  maxCalls: wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a whole number above 0'),
  callsPerSecond: number(0.1, 1000),
};

/** Fields that hold lists, and how many items they may have; each item passes the check. */
const LISTS: Readonly<Record<string, { readonly min: number; readonly max: number }>> = {
  numbers: { min: 0, max: 10_000 },
  codecs: { min: 1, max: 100 },
  allowedSources: { min: 0, max: 1000 },
};

const DEFAULTS = {
  register: false,
  registerExpiresSeconds: 300,
  optionsIntervalSeconds: 30,
  numbers: [],
  codecs: USUAL_CODECS,
  srtp: 'off',
  transfer: 'auto',
  acceptTransfers: false,
  callerIdHeader: 'pai',
  allowedSources: [],
} as const satisfies Partial<Trunk>;

const TRUNKS_MAX = 1000;

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
  const problems = problemsOf(settings);
  if (problems.length > 0) throw new TrunkSettingsError(`${cannot}:\n  ${problems.join('\n  ')}`);
  return (settings as readonly TrunkSettings[]).map(trunkOf);
}

/**
 * Reads one trunk, in the form of the file or of the REST interface.
 *
 * @throws {TrunkSettingsError} naming every wrong field.
 */
export function parseTrunk(settings: Readonly<Record<string, unknown>>): Trunk {
  const faults = faultsOfTrunk(settings);
  if (faults.length > 0) {
    const message = faults.map(({ path, message }) => `${path}: ${message}`).join('; ');
    throw new TrunkSettingsError(`Cannot use ${nameOf(settings, 0)}: ${message}`);
  }
  return trunkOf(settings as unknown as TrunkSettings);
}

/** A trunk in the form of the file, after the check of every field. */
interface TrunkSettings extends Partial<Omit<Trunk, 'proxy' | 'price'>> {
  readonly name: string;
  readonly proxy: string;
  /** The transport of the proxy, where `proxy` names none. */
  readonly transport?: string;
  readonly price?: PriceSettings;
}

function trunkOf({ transport, price, ...settings }: TrunkSettings): Trunk {
  return {
    ...DEFAULTS,
    ...settings,
    ...(price && { price: trunkPriceOf(price) }),
    proxy: proxyOf(settings.proxy, transport),
  };
}

function proxyOf(text: string, given = 'udp'): TrunkProxy {
  const [, scheme, host = '', port, transport = given] = PROXY.exec(text) ?? [];
  const isSips = scheme !== undefined;
  return {
    host: host.replace(/^\[|\]$/g, ''),
    port: port === undefined ? undefined : Number(port),
    transport: isSips ? 'tls' : (transport as TrunkProxy['transport']),
    isSips,
  };
}

/** Every fault of the file, one a line. */
function problemsOf(settings: unknown): readonly string[] {
  if (!Array.isArray(settings) || settings.length > TRUNKS_MAX) {
    return [`the list of trunks: expected a list of ${TRUNKS_MAX} trunks at most`];
  }
  return settings.flatMap((trunk: unknown, index) => {
    const name = nameOf(trunk, index);
    if (!isObject(trunk)) return [`${name}: expected an object`];
    const another = settings
      .slice(0, index)
      .some((one) => isObject(one) && one.name === trunk.name);
    return [
      ...faultsOfTrunk(trunk),
      ...(another ? [{ path: 'name', message: 'another trunk has it already' }] : []),
    ].map(({ path, message }) => `${name}: ${path}: ${message}`);
  });
}

/** Every wrong field of one trunk; empty where all are right. */
export function faultsOfTrunk(trunk: Readonly<Record<string, unknown>>): readonly TrunkFault[] {
  const { price, ...others } = trunk;
  const unknown = Object.keys(others).filter((field) => !Object.hasOwn(FIELDS, field));
  const fields = Object.entries(FIELDS).flatMap(([field, check]) => {
    const isRequired = field === 'name' || field === 'proxy';
    return trunk[field] === undefined && !isRequired
      ? []
      : faultsOfField(field, trunk[field], check);
  });
  return [
    ...fields,
    ...(price === undefined ? [] : faultsOfPrice(price)),
    ...unknown.map((path) => ({ path, message: 'unknown field' })),
    ...faultsOfPairs(trunk),
  ];
}

/** Fields that are right one by one but not together. */
function faultsOfPairs(trunk: Readonly<Record<string, unknown>>): readonly TrunkFault[] {
  const { username, password, register, proxy, transport } = trunk;
  const [, scheme, , port, named] = typeof proxy === 'string' ? (PROXY.exec(proxy) ?? []) : [];
  const inProxy = scheme === undefined ? named : 'tls';
  const isPort = port === undefined || wholeNumber(1, 65_535).allows(Number(port));
  const isHalf = (username === undefined) !== (password === undefined);
  const isNameless = register === true && username === undefined;
  const isTwice = inProxy !== undefined && transport !== undefined && transport !== inProxy;
  const faults: readonly (readonly [boolean, string, string])[] = [
    [!isPort, 'proxy', 'expected a port from 1 to 65535'],
    [isTwice, 'transport', 'expected the transport that proxy names, or none there'],
    [isHalf, 'password', 'expected a username and a password, or neither'],
    [isNameless, 'register', 'expected a username and a password where register is true'],
  ];
  return faults.flatMap(([isWrong, path, message]) => (isWrong ? [{ path, message }] : []));
}

function faultsOfField(path: string, value: unknown, { expected, allows }: Check): TrunkFault[] {
  const message = `expected ${expected}`;
  const bounds = LISTS[path];
  if (bounds === undefined) return allows(value) ? [] : [{ path, message }];
  const { min, max } = bounds;
  if (!Array.isArray(value) || value.length < min || value.length > max) {
    return [{ path, message: `expected a list of ${min} to ${max} items` }];
  }
  return value.flatMap((item, index) =>
    allows(item) ? [] : [{ path: `${path}.${index}`, message }],
  );
}

function parseJson(json: string, cannot: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    // The parser's own message quotes the text, which holds passwords: only the place is taken from it.
    const place = /line \d+ column \d+/.exec(String(error))?.[0];
    const expected = `expected a list of trunks as JSON${place === undefined ? '' : `, wrong at ${place}`}`;
    const message = `${cannot}: ${expected}; see sip-config/README.md`;
    throw new TrunkSettingsError(message, { cause: error });
  }
}

/** Name of the trunk, otherwise its position in the list, from 1. */
function nameOf(trunk: unknown, index: number): string {
  const hasName = isObject(trunk) && typeof trunk.name === 'string' && trunk.name !== '';
  return hasName ? `trunk "${trunk.name}"` : `trunk number ${index + 1}`;
}

/** Whether the text is an IP address or a network in CIDR form. */
export function isNetwork(text: string): boolean {
  try {
    addNetwork(new BlockList(), text);
    return true;
  } catch {
    // Text that node:net cannot read is no network.
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
  return `${schemeOf(proxy)}:${number}@${domain ?? hostPortOf(proxy)}`;
}

/** Request-URI of REGISTER: with the port of a proxy that has no domain, so that a registrar on the SIP server's own machine is not taken for it. */
export function registrarUriOf({ domain, proxy }: Trunk): string {
  return `${schemeOf(proxy)}:${domain ?? hostPortOf(proxy)}`;
}

/** The next hop of every request. */
export function proxyUriOf({ proxy }: Trunk): string {
  // A `sips` URI means TLS by itself. RFC 3261, 26.2.2.
  const isNamed = proxy.transport !== 'udp' && !proxy.isSips;
  const transport = isNamed ? `;transport=${proxy.transport}` : '';
  return `${schemeOf(proxy)}:${hostPortOf(proxy)}${transport}`;
}

/** `host:port` of a trunk's proxy; IPv6 in brackets. */
export function hostPortOf(proxy: TrunkProxy): string {
  return proxy.port === undefined ? hostOf(proxy) : `${hostOf(proxy)}:${proxy.port}`;
}

function schemeOf({ isSips }: TrunkProxy): 'sip' | 'sips' {
  return isSips ? 'sips' : 'sip';
}

function hostOf({ host }: TrunkProxy): string {
  return urlHost(host);
}
