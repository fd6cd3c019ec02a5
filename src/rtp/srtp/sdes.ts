/** SDES: SRTP keys in session descriptions, read, made and agreed. RFC 4568. */
import { randomBytes } from 'node:crypto';
import { CRYPTO_SUITES, type CryptoSuite, inlineBytesOf, type SrtpKeys } from './transform.ts';

/**
 * Whether a far end's audio is encrypted.
 *
 * - `required`: always; anything else is refused
 * - `preferred`: where the far end brings keys or takes ours (RFC 8643), else plain RTP
 * - `off`: never
 */
export type SrtpPolicy = (typeof SRTP_POLICIES)[number];

/** Whether a call must, may or will not be encrypted. */
export const SRTP_POLICIES = ['required', 'preferred', 'off'] as const;

/** A usable a=crypto line. */
export interface CryptoLine extends SrtpKeys {
  readonly tag: number;
}

/** Agreed keys of both directions. */
export interface AgreedSrtp {
  readonly send: SrtpKeys;
  readonly receive: SrtpKeys;
}

/** Fields of an a=crypto line, as an SDP parser gives them. */
interface CryptoFields {
  readonly id: unknown;
  readonly suite: unknown;
  /** Key parameters, such as `inline:KEY|2^20|1:4`. */
  readonly config: unknown;
  /** Session parameters, between them blanks or {@link PARAMETER_SEPARATOR}. */
  readonly sessionConfig?: unknown;
}

/** Lines of one stream that are looked at. */
const LINES_MAX = 16;

/** One master key with an optional lifetime. A key with an MKI would make every packet longer: not supported. */
const KEY_PARAMETERS = /^inline:([A-Za-z0-9+/]+={0,2})(?:\|(?:2\^)?\d+)?$/;

/**
 * Session parameters without effect here: window size hint, a key derivation rate of 0, and extensions that their dash
 * makes optional. RFC 4568, 6.3.
 */
const HARMLESS_PARAMETER = /^(?:WSH=\d+|KDR=0|-[\x21-\x2c\x2e-\x7e][\x21-\x7e]*)$/;

/** Holds the session parameters of a line together: SDP parsers read the first of them alone. */
const PARAMETER_SEPARATOR = '\u001f';

/** The session description with all session parameters of each a=crypto line in one word, for {@link readCryptoLines}. */
export function joinSessionParameters(text: string): string {
  return text.replace(
    /^(a=crypto:\S* \S* \S+)[^\S\r\n]+([^\r\n]*)/gm,
    (_, key: string, parameters: string) =>
      `${key} ${wordsOf(parameters).join(PARAMETER_SEPARATOR)}`,
  );
}

function wordsOf(parameters: string): readonly string[] {
  return parameters.split(/\s/).filter((word) => word !== '');
}

/** The usable a=crypto lines, in their order. @see RFC 4568 sections 4, 6 */
export function readCryptoLines(lines: readonly CryptoFields[] = []): readonly CryptoLine[] {
  return lines.slice(0, LINES_MAX).flatMap(({ id, suite, config, sessionConfig = '' }) => {
    const isText = typeof config === 'string' && typeof sessionConfig === 'string';
    if (!isSuite(suite) || typeof id !== 'number' || !isText) return [];
    const [, inline = ''] = KEY_PARAMETERS.exec(config) ?? [];
    const isWhole = Buffer.from(inline, 'base64').length === inlineBytesOf(suite);
    const parameters = wordsOf(sessionConfig.replaceAll(PARAMETER_SEPARATOR, ' '));
    const isPlain = parameters.every((parameter) => HARMLESS_PARAMETER.test(parameter));
    return isWhole && isPlain ? [{ tag: id, suite, inline }] : [];
  });
}

/** Names of the suites of a stream, for messages. */
export function suitesIn(lines: readonly CryptoFields[] = []): string {
  const names = lines.slice(0, LINES_MAX).map(({ suite }) => suite);
  return names.filter((name) => typeof name === 'string' && /^\w{1,40}$/.test(name)).join(', ');
}

/** Names of the supported suites, for messages. */
export const SUPPORTED_SUITES = Object.keys(CRYPTO_SUITES).join(', ');

function isSuite(name: unknown): name is CryptoSuite {
  return typeof name === 'string' && Object.hasOwn(CRYPTO_SUITES, name);
}

function formatCryptoLine({ tag, suite, inline }: CryptoLine): string {
  return `a=crypto:${tag} ${suite} inline:${inline}`;
}

/** Our keys of one call: one for each suite, the same in every description. */
export class SdesKeys {
  readonly #inline = new Map<CryptoSuite, string>();

  /** The a=crypto lines of our offer: every supported suite. */
  offer(): readonly string[] {
    const suites = Object.keys(CRYPTO_SUITES) as CryptoSuite[];
    return suites.map((suite, at) => formatCryptoLine({ tag: at + 1, ...this.#ours(suite) }));
  }

  /** Our a=crypto line in the answer to an offer: its first usable line, with our key. */
  answer(theirs: readonly CryptoLine[]): readonly string[] {
    return theirs
      .slice(0, 1)
      .map(({ tag, suite }) => formatCryptoLine({ tag, ...this.#ours(suite) }));
  }

  /** Keys that follow from the far end's description, offer or answer; undefined for plain RTP. */
  agree(theirs: readonly CryptoLine[]): AgreedSrtp | undefined {
    const [first] = theirs;
    if (first === undefined) return undefined;
    const { suite, inline } = first;
    return { send: this.#ours(suite), receive: { suite, inline } };
  }

  #ours(suite: CryptoSuite): SrtpKeys {
    const inline = this.#inline.get(suite) ?? randomBytes(inlineBytesOf(suite)).toString('base64');
    this.#inline.set(suite, inline);
    return { suite, inline };
  }
}
