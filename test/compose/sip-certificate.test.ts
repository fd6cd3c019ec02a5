/** The certificate files of SIP over TLS: what is said of bad ones, and how new ones are taken. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SipCertificate } from '../../src/compose/sip-certificate.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import type { TlsSettings } from '../../src/sip/transport/tls-layer.ts';
import { TestAuthority } from '../support/network/certificates.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const folder = mkdtempSync(join(tmpdir(), 'offhook-certificates-'));
const authority = new TestAuthority();
const DAY_MS = 86_400_000;
const CERT = join(folder, 'cert.pem');
const KEY = join(folder, 'key.pem');

afterAll(() => rmSync(folder, { recursive: true }));

function chainCutOff() {
  const { cert, key } = authority.sign();
  return { cert: cert + authority.cert.slice(0, 200), key };
}

function open(files: { readonly cert?: string; readonly key?: string; readonly ca?: string }) {
  const { cert, key } = authority.sign();
  writeFileSync(CERT, files.cert ?? cert);
  writeFileSync(KEY, files.key ?? key);
  writeFileSync(join(folder, 'ca.pem'), files.ca ?? authority.cert);
  const lines: string[] = [];
  const note = (fields: object) => lines.push(JSON.stringify(fields));
  const clock = new FakeClock(Date.now());
  const config = {
    ...{ SIP_TLS_CERT: CERT, SIP_TLS_KEY: KEY, SIP_TLS_CA: join(folder, 'ca.pem') },
    SIP_TLS_VERIFY_CLIENTS: false,
  };
  const log = { ...silentLogger, info: note, warn: note };
  return { certificate: new SipCertificate({ config, clock, log }), clock, lines };
}

test.each([
  ['a text that is none', { cert: 'nonsense' }, `SIP_TLS_CERT "${CERT}": holds no certificate`],
  ['no key', { key: 'nonsense' }, `SIP_TLS_KEY "${KEY}": holds no private key`],
  ['the key of another one', { key: authority.sign().key }, `SIP_TLS_KEY "${KEY}": is not the key`],
  [
    'one that has expired',
    authority.sign({ notAfter: new Date('2020-01-02') }),
    `SIP_TLS_CERT "${CERT}": expired on 2020-01-02T00:00:00.000Z; renew the certificate`,
  ],
  [
    'one for later',
    authority.sign({ notBefore: new Date('2050-01-02'), notAfter: new Date('2060-01-01') }),
    'is not valid before 2050-01-02',
  ],
  ['no authority', { ca: '' }, 'SIP_TLS_CA'],
  ['a chain that is cut off', chainCutOff(), `SIP_TLS_CERT "${CERT}": is cut off or damaged`],
  [
    'authorities that are cut off',
    { ca: authority.cert + authority.cert.slice(0, 200) },
    'is cut off or damaged in its certificate number 2; write the whole file again',
  ],
  [
    'a short key',
    authority.sign({ rsaBits: 1024 }),
    `SIP_TLS_CERT "${CERT}": is refused by TLS: its key is too short; RSA needs 2048 bits at least (ERR_SSL_EE_KEY_TOO_SMALL)`,
  ],
])('SipCertificate refuses %s, and names setting and file', (_, files, message) => {
  expect(() => open(files)).toThrow(message);
  expect(() => open(files)).toThrow(expect.objectContaining({ name: 'ConfigError' }));
});

test('SipCertificate names the file that cannot be read', () => {
  const config = {
    ...{ SIP_TLS_CERT: join(folder, 'none.pem'), SIP_TLS_KEY: KEY, SIP_TLS_CA: undefined },
    SIP_TLS_VERIFY_CLIENTS: false,
  };
  const parts = { clock: new FakeClock(), log: silentLogger };

  expect(() => new SipCertificate({ config, ...parts })).toThrow(
    /Cannot use SIP_TLS_CERT ".*none\.pem": cannot be read .*; correct the path/,
  );
});

test('SipCertificate is not there without files, and says nothing', () => {
  const config = {
    ...{ SIP_TLS_CERT: undefined, SIP_TLS_KEY: undefined, SIP_TLS_CA: undefined },
    SIP_TLS_VERIFY_CLIENTS: false,
  };

  const certificate = new SipCertificate({ config, clock: new FakeClock(), log: silentLogger });

  expect(certificate.settings.identity).toBeUndefined();
  expect([certificate.check(), certificate.expiresAt]).toEqual([undefined, undefined]);
});

test('SipCertificate takes new files within ten seconds, once both of them fit', () => {
  const { certificate, clock, lines } = open({});
  const taken: TlsSettings[] = [];
  certificate.start((settings) => taken.push(settings));
  const renewed = authority.sign();

  clock.advance(30_000);
  writeFileSync(CERT, renewed.cert);
  clock.advance(20_000);
  const whileHalf = [...taken];
  writeFileSync(KEY, renewed.key);
  clock.advance(10_000);
  certificate.stop();
  writeFileSync(CERT, 'nonsense');
  clock.advance(60_000);

  expect(whileHalf).toEqual([]);
  expect(taken).toEqual([certificate.settings]);
  expect(certificate.settings.identity).toEqual(renewed);
  expect(lines.filter((line) => line.includes('is not the key'))).toHaveLength(1);
});

test.each([
  ['with a chain that is cut off', chainCutOff(), 'is cut off'],
  ['with a short key', authority.sign({ rsaBits: 1024 }), 'key is too short'],
])('SipCertificate keeps the old certificate when the new one comes %s, and says so once', (_, bad, why) => {
  const { certificate, clock, lines } = open({});
  const { identity } = certificate.settings;
  const taken: TlsSettings[] = [];
  certificate.start((settings) => taken.push(settings));

  writeFileSync(CERT, bad.cert);
  writeFileSync(KEY, bad.key);
  clock.advance(60_000);
  certificate.stop();

  expect(taken).toEqual([]);
  expect(certificate.settings.identity).toEqual(identity);
  expect(lines).toEqual([expect.stringContaining(why)]);
});

test.each([
  [30, true, /^expires in 29 days/],
  [13, true, /^degraded: expires in 12 days.*renew the file of SIP_TLS_CERT/],
  [-1, false, /^expired on .*: carriers refuse TLS/],
])('SipCertificate with %d days left is well: %s', (daysLeft, isOk, state) => {
  const notAfter = new Date(Date.now() + 100 * DAY_MS);
  const { certificate, clock } = open(authority.sign({ notAfter }));

  clock.advance((100 - daysLeft) * DAY_MS + 60_000);

  expect(certificate.check()).toEqual({
    name: 'SIP certificate',
    isOk,
    state: expect.stringMatching(state),
  });
  expect(certificate.expiresAt?.getTime()).toBe(Math.floor(notAfter.getTime() / 1000) * 1000);
});
