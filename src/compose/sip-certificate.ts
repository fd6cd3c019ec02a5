/** Composition root: certificate files of SIP over TLS: read and checked at the start, and again when they change. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/secret-files.ts';
import type { ReadinessCheck } from '../domain/call/engine-state.ts';
import { type Clock, DAY_MS } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { messageOf } from '../lib/unknown-value.ts';
import { checkIdentity, type TlsSettings, tlsFailureOf } from '../sip/transport/tls-layer.ts';

/** The files are small; programs that renew certificates replace them without a word to us. */
const LOOK_MS = 10_000;

/** Time before the expiry from which `/readyz` warns of it. Certificates of 90 days are renewed 30 days before. */
const WARN_MS = 14 * DAY_MS;

type TlsConfig = Pick<
  Config,
  'SIP_TLS_CERT' | 'SIP_TLS_KEY' | 'SIP_TLS_CA' | 'SIP_TLS_VERIFY_CLIENTS'
>;

interface SipCertificateOptions {
  readonly config: TlsConfig;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The newest usable certificate. Files that cannot be used leave it as it is. */
export class SipCertificate {
  readonly #options: SipCertificateOptions;
  #files: Files;
  #expiresAt: Date | undefined;
  /** The newest fault of the files, so that it is logged once. */
  #problem: string | undefined;
  #cancelNext: () => void = () => {};

  /** @throws {ConfigError} naming the setting and the file, and what to do. */
  constructor(options: SipCertificateOptions) {
    this.#options = options;
    this.#files = readFiles(options.config);
    this.#expiresAt = checkFiles(options.config, this.#files, options.clock.now());
  }

  /** TLS settings for the SIP engine. */
  get settings(): TlsSettings {
    const { cert, key, ca } = this.#files;
    const identity = cert === undefined || key === undefined ? undefined : { cert, key };
    return { identity, ca, verifiesClients: this.#options.config.SIP_TLS_VERIFY_CLIENTS };
  }

  /** Undefined without a certificate. */
  get expiresAt(): Date | undefined {
    return this.#expiresAt;
  }

  /** Looks at the files every ten seconds from now on. */
  start(onChange: (settings: TlsSettings) => void): void {
    const { SIP_TLS_CERT, SIP_TLS_CA } = this.#options.config;
    if (SIP_TLS_CERT === undefined && SIP_TLS_CA === undefined) return;
    this.#cancelNext = this.#options.clock.after(LOOK_MS, () => {
      if (this.#renew()) onChange(this.settings);
      this.start(onChange);
    });
  }

  /** Safe to call twice. */
  stop(): void {
    this.#cancelNext();
  }

  /** State for `/readyz`; undefined without a certificate. */
  check(): ReadinessCheck | undefined {
    if (this.#expiresAt === undefined) return undefined;
    const leftMs = this.#expiresAt.getTime() - this.#options.clock.now().getTime();
    const day = this.#expiresAt.toISOString().slice(0, 10);
    const left = `in ${Math.floor(leftMs / DAY_MS)} days, on ${day}`;
    const remedy = 'renew the file of SIP_TLS_CERT; it is read again without a restart';
    const state =
      leftMs <= 0
        ? `expired on ${day}: carriers refuse TLS; ${remedy}`
        : leftMs < WARN_MS
          ? `degraded: expires ${left}; ${remedy}`
          : `expires ${left}`;
    return { name: 'SIP certificate', isOk: leftMs > 0, state };
  }

  /** @returns whether the files have changed and are usable. */
  #renew(): boolean {
    const { config, clock, log } = this.#options;
    try {
      const files = readFiles(config);
      if (isSame(files, this.#files)) return false;
      this.#expiresAt = checkFiles(config, files, clock.now());
      this.#files = files;
      this.#problem = undefined;
      log.info({ expiresAt: this.#expiresAt }, 'SIP certificate changed; calls go on');
      return true;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      // Files are replaced one after the other: the next look may find them right.
      if (this.#problem !== error.message) {
        log.warn({ why: error.message }, 'SIP certificate files cannot be used; the old ones stay');
      }
      this.#problem = error.message;
      return false;
    }
  }
}

interface Files {
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly ca: string | undefined;
}

function isSame(one: Files, other: Files): boolean {
  return one.cert === other.cert && one.key === other.key && one.ca === other.ca;
}

function readFiles(config: TlsConfig): Files {
  return {
    cert: readPem(config, 'SIP_TLS_CERT'),
    key: readPem(config, 'SIP_TLS_KEY'),
    ca: readPem(config, 'SIP_TLS_CA'),
  };
}

function readPem(config: TlsConfig, name: 'SIP_TLS_CERT' | 'SIP_TLS_KEY' | 'SIP_TLS_CA') {
  const path = config[name];
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw problem(
      name,
      path,
      `cannot be read (${messageOf(cause)}); correct the path, or let this user read it`,
    );
  }
}

function problem(name: string, path: string, state: string, cause?: unknown): ConfigError {
  return new ConfigError(`Cannot use ${name} "${path}": ${state}`, { cause });
}

/** @returns expiry of the certificate. @throws {ConfigError} for files that cannot be used. */
function checkFiles(config: TlsConfig, { cert, key, ca }: Files, now: Date): Date | undefined {
  const { SIP_TLS_CERT = '', SIP_TLS_KEY = '', SIP_TLS_CA = '' } = config;
  if (ca !== undefined) readCertificate('SIP_TLS_CA', SIP_TLS_CA, ca);
  if (cert === undefined || key === undefined) return undefined;
  const certificate = readCertificate('SIP_TLS_CERT', SIP_TLS_CERT, cert);
  if (!certificate.checkPrivateKey(readKey(SIP_TLS_KEY, key))) {
    const state = `is not the key of the certificate in SIP_TLS_CERT "${SIP_TLS_CERT}"; set the two files of one renewal`;
    throw problem('SIP_TLS_KEY', SIP_TLS_KEY, state);
  }
  const { validFromDate, validToDate } = certificate;
  if (validToDate <= now) {
    const state = `expired on ${validToDate.toISOString()}; renew the certificate`;
    throw problem('SIP_TLS_CERT', SIP_TLS_CERT, state);
  }
  if (validFromDate > now) {
    const state = `is not valid before ${validFromDate.toISOString()}; correct this machine's clock, or use another certificate`;
    throw problem('SIP_TLS_CERT', SIP_TLS_CERT, state);
  }
  checkUse(SIP_TLS_CERT, { cert, key });
  return validToDate;
}

/** @returns the first certificate of the file. The others are its chain, or other authorities. */
function readCertificate(name: string, path: string, pem: string): X509Certificate {
  // The parser reads one certificate and ignores what follows.
  const blocks = pem.split(/(?=-----BEGIN CERTIFICATE-----)/);
  const [first = pem, ...others] = blocks.filter((text) => text.startsWith('-----BEGIN'));
  const none = 'holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)';
  const certificate = parseCertificate(first, (cause) => problem(name, path, none, cause));
  for (const [at, text] of others.entries()) {
    const state = `is cut off or damaged in its certificate number ${at + 2}; write the whole file again`;
    parseCertificate(text, (cause) => problem(name, path, state, cause));
  }
  return certificate;
}

/** The parser's own message does not help. */
function parseCertificate(pem: string, refusal: (cause: unknown) => ConfigError): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw refusal(cause);
  }
}

/** Lets OpenSSL check the identity: it has rules of its own, such as the shortest key. */
function checkUse(path: string, identity: { readonly cert: string; readonly key: string }): void {
  try {
    checkIdentity(identity);
  } catch (cause) {
    const why = cause instanceof Error ? tlsFailureOf(cause) : String(cause);
    throw problem(
      'SIP_TLS_CERT',
      path,
      `is refused by TLS: ${why}; use another certificate`,
      cause,
    );
  }
}

/** The parser's own message does not help. */
function readKey(path: string, pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    const state =
      'holds no private key in PEM form, or one with a passphrase; write it without a passphrase';
    throw problem('SIP_TLS_KEY', path, state, cause);
  }
}
