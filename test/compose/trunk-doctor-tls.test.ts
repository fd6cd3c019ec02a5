/** The trunk doctor against far ends whose certificates are good, and wrong in one way each. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openAddresses } from '../../src/compose/addresses.ts';
import { diagnose } from '../../src/compose/sip-doctor-client.ts';
import { readConfig } from '../../src/config/config.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { silentLogger as log } from '../../src/lib/logger.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { type Identity, TestAuthority } from '../support/network/certificates.ts';
import { trunkTo } from '../telephony/plane.ts';

const AUTHORITY = new TestAuthority();

const DAY_MS = 86_400_000;

interface FarEnd {
  readonly identity?: Identity;
  /** Whether it asks for a certificate of its authority. */
  readonly verifiesClients?: boolean;
  /** Sources whose keep-alive it does not answer. */
  readonly isStranger?: () => boolean;
}

async function check(far: FarEnd, ours?: Identity) {
  const { identity = AUTHORITY.sign(), verifiesClients = false, isStranger = () => false } = far;
  const folder = mkdtempSync(join(tmpdir(), 'offhook-doctor-'));
  const SIP_TLS_CA = join(folder, 'ca.pem');
  writeFileSync(SIP_TLS_CA, AUTHORITY.cert);
  const [SIP_TLS_CERT, SIP_TLS_KEY] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(SIP_TLS_CERT, ours?.cert ?? '');
  writeFileSync(SIP_TLS_KEY, ours?.key ?? '');
  const farEnd = new UserAgent({
    listen: [{ protocol: 'TLS', address: '127.0.0.1', port: 0 }],
    tls: { identity, ca: AUTHORITY.cert, verifiesClients },
    strangers: { isStranger, isSilenced: () => false, count: () => undefined },
  });
  await farEnd.start();
  onTestFinished(async () => {
    await farEnd.stop();
    rmSync(folder, { recursive: true });
  });
  const trunk = trunkTo(`127.0.0.1:${farEnd.addresses[0]?.port};transport=tls`);
  const config = readConfig({ SIP_TLS_CA, ...(ours && { SIP_TLS_CERT, SIP_TLS_KEY }) });
  const onChange = () => undefined;
  const addresses = openAddresses({ config, trunks: [trunk], onChange, clock, log });
  const { steps } = await diagnose(trunk, { config, addresses, clock, log });
  return { steps, wrong: steps.filter(({ ok }) => !ok).map(({ message }) => message) };
}

test('diagnose finds a good certificate, and goes on over TLS', async () => {
  const { steps, wrong } = await check({});

  expect(wrong).toEqual([]);
  expect(steps.map(({ step }) => step)).toEqual([
    ...['dns', 'connection', 'certificate', 'options', 'address', 'codecs', 'clock'],
  ]);
  expect(steps[2]?.message).toMatch(/certificate of "127\.0\.0\.1" is good, until 20\d\d-/);
});

test.each([
  [
    'by an unknown authority',
    () => new TestAuthority('Other').sign(),
    /no known authority; set SIP_TLS_CA/,
  ],
  [
    'that has expired',
    () => AUTHORITY.sign({ notAfter: new Date(Date.now() - 1000) }),
    /is impossible: its certificate has expired/,
  ],
  [
    'that expires in two days',
    () => AUTHORITY.sign({ notAfter: new Date(Date.now() + 2 * DAY_MS) }),
    /expires soon, until .*: calls will fail then; ask the carrier/,
  ],
  ['for another name', () => AUTHORITY.sign({ names: ['other.example'] }), /127\.0\.0\.1/],
])('diagnose says what is wrong with a certificate %s', async (_case, identity, message) => {
  const { wrong } = await check({ identity: identity() });

  expect(wrong).toEqual([expect.stringMatching(message)]);
});

test.each([
  ['none of ours', () => undefined, /is impossible: the peer requires a certificate of ours; set/],
  [
    'ours by another authority',
    () => new TestAuthority('Other').sign(),
    /is impossible: the peer .* not accept our certificate/,
  ],
])('diagnose says that a far end which wants a certificate of its authority refuses %s', async (_case, ours, message) => {
  const { steps, wrong } = await check({ verifiesClients: true }, ours());

  expect(steps.map(({ step }) => step)).toEqual(['dns', 'connection', 'certificate']);
  expect(wrong).toEqual([expect.stringMatching(message)]);
});

test.each([
  ['answers keep-alive', false],
  ['does not', true],
])('diagnose goes on to a far end that accepts our certificate and %s', async (_case, isMute) => {
  const far = { verifiesClients: true, isStranger: () => isMute };

  const { wrong } = await check(far, AUTHORITY.sign());

  expect(wrong).toEqual([]);
});
