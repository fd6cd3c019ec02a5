/** Telephony as it is composed, while its trunks change. */
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../examples/phone/phone.ts';
import { Telephony } from '../../src/compose/telephony.ts';
import { readConfig } from '../../src/config/config.ts';
import type { StoredTrunk } from '../../src/domain/dialing/trunk.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { silentLogger as log } from '../../src/lib/logger.ts';
import { freePort } from '../support/network/free-ports.ts';

const [OURS, THEIRS] = ['+390612345678', '+12025550123'];

const NO_DIALOGS = {
  all: async () => [],
  save: async () => undefined,
  remove: async () => undefined,
};

/** Telephony with one trunk, to a telephone that answers. */
async function openWorld() {
  const phone = new Phone();
  await phone.start();
  phone.onRinging((call) => void call.answer());
  const ports = { SIP_PORT: String(await freePort()), RTP_PORTS: '18420-18499' };
  const config = readConfig({ ...ports, SIP_TLS_PORT: String(await freePort()) });
  const telephony = new Telephony({ config, version: '0.0.0', clock, log });
  onTestFinished(async () => {
    await telephony.stop();
    await phone.stop();
  });
  const useSettings = (settings: object) =>
    telephony.useStored({ list: async () => [stored(phone.hostPort(), settings)] });
  const passwords = () => telephony.challengeable.map(({ password }) => password);
  const call = async () => {
    const { answered } = telephony.place({ from: OURS, to: THEIRS, ringingTimeoutMs: 9_000 });
    return await answered;
  };
  return { telephony, useSettings, passwords, call };
}

function stored(proxy: string, { password, ...settings }: { password?: string }): StoredTrunk {
  return {
    name: 'acme',
    settings: { proxy, username: 'joe', numbers: [OURS], optionsIntervalSeconds: 0, ...settings },
    password: password ?? null,
    createdAt: new Date(0),
    updatedAt: new Date(0),
  };
}

test('Telephony forgets former passwords when the last call with them ends, though the trunk has other calls', async () => {
  const { telephony, useSettings, passwords, call } = await openWorld();
  await useSettings({ password: 'former' });
  await telephony.start(() => undefined, NO_DIALOGS);
  const first = await call();

  await useSettings({ password: 'newer' });
  const second = await call();
  const during = passwords();
  await first.hangUp();
  await expect.poll(passwords).toEqual(['newer']);

  expect(during).toEqual(['newer', 'former']);
  await second.hangUp();
});
