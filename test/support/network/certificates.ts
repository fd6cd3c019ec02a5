/** Certificates for tests, made without other programs: authorities, and what they sign. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** PEM text of a certificate and its key. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

interface IdentityOptions {
  /** Host names and IPv4 addresses. */
  readonly names?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** Length of an RSA key; without it the key is one of P-256. */
  readonly rsaBits?: number;
}

const DAY_MS = 86_400_000;

const OID = {
  ecdsaWithSha256: '06082a8648ce3d040302',
  commonName: '0603550403',
  subjectAltName: '0603551d11',
  basicConstraints: '0603551d13',
} as const;

/** A certificate authority; `sign` makes certificates that are valid from yesterday for a year. */
export class TestAuthority {
  readonly cert: string;
  readonly #name: string;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  constructor(name = 'Test Authority') {
    this.#name = name;
    const isAuthority = sequence(
      oid('basicConstraints'),
      der(0x01, [0xff]),
      octets(sequence(der(0x01, [0xff]))),
    );
    this.cert = this.#certificate(name, this.#keys.publicKey, [isAuthority], {});
  }

  sign(options: IdentityOptions = {}): Identity {
    const { names = ['127.0.0.1', 'localhost'], rsaBits } = options;
    const { publicKey, privateKey } =
      rsaBits === undefined
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('rsa', { modulusLength: rsaBits });
    const extension = sequence(
      oid('subjectAltName'),
      octets(sequence(...names.map(alternativeName))),
    );
    const cert = this.#certificate(names[0] ?? 'unnamed', publicKey, [extension], options);
    return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
  }

  /** RFC 5280, 4.1. */
  #certificate(
    subject: string,
    publicKey: KeyObject,
    extensions: readonly Buffer[],
    { notBefore, notAfter }: IdentityOptions,
  ): string {
    const algorithm = sequence(oid('ecdsaWithSha256'));
    const validity = sequence(
      time(notBefore ?? new Date(Date.now() - DAY_MS)),
      time(notAfter ?? new Date(Date.now() + 365 * DAY_MS)),
    );
    const toBeSigned = sequence(
      der(0xa0, der(0x02, [2])),
      der(0x02, [1, ...randomBytes(8)]),
      algorithm,
      nameOf(this.#name),
      validity,
      nameOf(subject),
      publicKey.export({ type: 'spki', format: 'der' }),
      der(0xa3, sequence(...extensions)),
    );
    const signature = sign('sha256', toBeSigned, this.#keys.privateKey);
    const whole = sequence(toBeSigned, algorithm, der(0x03, [0, ...signature]));
    const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
    return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
  }
}

/** One DER value: tag, length, content. */
function der(tag: number, content: Iterable<number>): Buffer {
  const bytes = Buffer.from([...content]);
  const { length } = bytes;
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...(length < 128 ? [length] : long)]), bytes]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function octets(content: Buffer): Buffer {
  return der(0x04, content);
}

function oid(name: keyof typeof OID): Buffer {
  return Buffer.from(OID[name], 'hex');
}

function nameOf(text: string): Buffer {
  return sequence(der(0x31, sequence(oid('commonName'), der(0x0c, Buffer.from(text)))));
}

function alternativeName(name: string): Buffer {
  return isIPv4(name) ? der(0x87, name.split('.').map(Number)) : der(0x82, Buffer.from(name));
}

/** GeneralizedTime. */
function time(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\.\d+Z$/g, '')}Z`));
}
