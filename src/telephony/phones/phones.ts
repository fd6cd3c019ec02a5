/** Telephones of the operator's own as `sip-config/phones.json` describes them, validated; pure */
import { isObject } from '../../lib/unknown-value.ts';
import { isOn, listOf } from '../trunks/trunk-table.ts';
import { isNetwork } from '../trunks/trunks.ts';

/** One telephone that registers here; see sip-config/README.md for each field. */
export interface Phone {
  /** User name of its digest, and the user part of its address. */
  readonly name: string;
  readonly password: string;
  /** Number that its calls are from; its name without one. */
  readonly extension?: string;
  /** Id of the agent that answers calls to numbers that no agent has. */
  readonly agent?: string;
  /** Id of the account whose agents it may call; the first account unless given. */
  readonly account?: string;
  readonly algorithm: 'MD5' | 'SHA-256';
  /** IP addresses and networks in CIDR form that it may register and call from. */
  readonly allowedSources: readonly string[];
}

/** Names the file, and every wrong telephone and field. */
export class PhoneSettingsError extends Error {
  override readonly name = 'PhoneSettingsError';
}

const PHONES_MAX = 1000;
const SOURCES_MAX = 100;
const PASSWORD_CHARS_MIN = 8;

/** Networks that no packet of the internet comes from. */
const PRIVATE_NETWORKS = [
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  ...['::1', 'fc00::/7', 'fe80::/10'],
];

/** Rule for a field: the expectation in words, and the test. */
type Check = readonly [expected: string, allows: (value: unknown) => boolean];

const matches = (pattern: RegExp) => (value: unknown) =>
  typeof value === 'string' && pattern.test(value);

const FIELDS: Readonly<Record<keyof Phone, Check>> = {
  name: [
    'letters, digits, dot, dash, underscore, plus; 64 at most',
    matches(/^[A-Za-z0-9+][A-Za-z0-9._+-]{0,63}$/),
  ],
  password: [
    `text of ${PASSWORD_CHARS_MIN} to 255 characters`,
    (value) =>
      typeof value === 'string' && value.length >= PASSWORD_CHARS_MIN && value.length <= 255,
  ],
  extension: ['1 to 15 digits, with a plus or without', matches(/^\+?\d{1,15}$/)],
  agent: ['the id of an agent, such as agent_0VbZOZK8', matches(/^agent_[0-9A-Za-z_]{1,64}$/)],
  account: ['the id of an account, such as acct_0VbZOZK8', matches(/^acct_[0-9A-Za-z_]{1,64}$/)],
  algorithm: ['MD5 or SHA-256', matches(/^(MD5|SHA-256)$/)],
  allowedSources: [
    `a list of 1 to ${SOURCES_MAX} IP addresses and networks such as 192.0.2.0/24`,
    (value) =>
      Array.isArray(value) &&
      value.length > 0 &&
      value.length <= SOURCES_MAX &&
      value.every((network) => typeof network === 'string' && isNetwork(network)),
  ],
};

const DEFAULTS = { algorithm: 'MD5', allowedSources: PRIVATE_NETWORKS } as const;

/**
 * Parses the telephones of `sip-config/phones.json` after the insertion of secrets.
 *
 * @throws {PhoneSettingsError} naming the file, and every wrong telephone and field; never a password.
 */
export function parsePhones(json: string, file: string): readonly Phone[] {
  const cannot = `Cannot use the telephones of "${file}"`;
  const settings = parseList(json, cannot);
  const problems = settings.flatMap((phone, index) => faultsOf(phone, index, settings));
  if (problems.length > 0) {
    throw new PhoneSettingsError(`${cannot}:\n  ${problems.join('\n  ')}`);
  }
  return settings.map((phone) => ({ ...DEFAULTS, ...(phone as unknown as Phone) }));
}

/** Addresses that some telephone may register and call from. */
export function sourcesOfPhones(phones: readonly Phone[]): (sourceAddress: string) => boolean {
  const list = listOf(phones.flatMap(({ allowedSources }) => allowedSources));
  return (address) => isOn(list, address);
}

type Settings = Readonly<Record<string, unknown>>;

function parseList(json: string, cannot: string): readonly Settings[] {
  const expected = `expected a list of ${PHONES_MAX} telephones at most, as JSON`;
  let list: unknown;
  try {
    list = JSON.parse(json);
  } catch (error) {
    // The parser's own message quotes the text, which holds passwords.
    throw new PhoneSettingsError(`${cannot}: ${expected}`, { cause: error });
  }
  if (!Array.isArray(list) || list.length > PHONES_MAX) {
    throw new PhoneSettingsError(`${cannot}: ${expected}`);
  }
  return list.map((one: unknown) => (isObject(one) ? one : {}));
}

function faultsOf(phone: Settings, index: number, all: readonly Settings[]): readonly string[] {
  const title = typeof phone.name === 'string' ? `"${phone.name}"` : `number ${index + 1}`;
  const wrong = Object.entries(FIELDS).flatMap(([field, [expected, allows]]) => {
    const isRequired = field === 'name' || field === 'password';
    const isFine = phone[field] === undefined ? !isRequired : allows(phone[field]);
    return isFine ? [] : [`${field}: expected ${expected}`];
  });
  const unknown = Object.keys(phone)
    .filter((field) => !Object.hasOwn(FIELDS, field))
    .map((field) => `${field}: unknown field`);
  const twice = (['name', 'extension'] as const)
    .filter((field) => phone[field] !== undefined)
    .filter((field) => all.findIndex((one) => one[field] === phone[field]) < index)
    .map((field) => `${field}: another telephone has it already`);
  return [...wrong, ...unknown, ...twice].map((fault) => `telephone ${title}: ${fault}`);
}
