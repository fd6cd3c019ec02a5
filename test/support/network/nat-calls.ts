/** Trunks, telephones and expectations of the tests behind an address translator, for every plane. */
import { join } from 'node:path';
import { expect } from 'vitest';
import type { TestServer } from '../server/server.ts';
import { readStereo } from '../speech/recording.ts';
import { loudestAmplitude } from '../speech/tone.ts';
import { FAR_END_HZ, FarEnd, type FarEndCall } from './far-end.ts';
import { LAN_PHONE, type NatNetwork, OUTSIDE, SECOND_PUBLIC } from './nat-network.ts';
import { REGISTERED_BY_TCP, REGISTERED_TRUNK } from './registrar.ts';

/** Calls each way, unless a test has more. */
export const CALLS = 20;
/** At a time: two cores carry more, but telephones, server and registrar share them here. */
const AT_A_TIME = 5;
/** The registrar brings its calls to the first, from a telephone at the second; the third has a trunk of its own. */
export const [REGISTRAR, SUBSCRIBER, NEIGHBOUR] = OUTSIDE;

/** Of 32,767; the telephone speaks with 12,000. */
export const LOUD = 6000;
const VOICED_PACKETS_MIN = 20;

export const NAT_TRUNKS = [
  REGISTERED_TRUNK,
  REGISTERED_BY_TCP,
  {
    name: 'second-line',
    proxy: NEIGHBOUR,
    allowedSources: [NEIGHBOUR],
    advertisedAddress: SECOND_PUBLIC,
  },
  { name: 'office', proxy: LAN_PHONE, allowedSources: ['10.0.0.0/24'], numbers: ['+12025550188'] },
];

/** Resolves when it takes calls; it ends with the network. */
export async function openPhone(network: NatNetwork, address: string): Promise<FarEnd> {
  const namespace = address === LAN_PHONE ? network.phone : network.outside;
  const phone = new FarEnd(namespace, { address });
  await phone.ready;
  return phone;
}

/** Calls in, or has calls come out, a few at a time. @param counts.calls is a multiple of `atATime`. */
export async function inTurns(
  phone: FarEnd,
  begin: () => unknown,
  { calls, atATime } = { calls: CALLS, atATime: AT_A_TIME },
): Promise<readonly FarEndCall[]> {
  const reports: FarEndCall[] = [];
  for (let begun = 0; begun < calls; begun += atATime) {
    await Promise.all(Array.from({ length: atATime }, begin));
    reports.push(...(await phone.reports(atATime)));
  }
  return reports;
}

/** How loud the far end is in the recording of each call that is on record. */
export async function farEndLevels(server: TestServer): Promise<readonly number[]> {
  const calls = await server.endedCalls();
  return Promise.all(calls.map(async ({ id }) => loudness(server, String(id))));
}

async function loudness({ dataDir }: TestServer, id: string): Promise<number> {
  const path = join(dataDir, 'recordings', `${id}.wav`);
  await expect.poll(() => readStereo(path) !== undefined, { timeout: 10_000 }).toBe(true);
  return loudestAmplitude(readStereo(path)?.left ?? new Int16Array(), FAR_END_HZ);
}

/** What every call must be, whichever way it went; `told` is the one address that the far end has seen. */
export function expectGood(calls: readonly FarEndCall[], told: string): void {
  const essence = calls.map(({ contact, origin, media, reinvites, isEnded, voicedPackets }) => ({
    ...{ origin, media, reinvites, isEnded },
    contact: contact.replace(/^sip:([^@]*@)?/, ''),
    isHeard: voicedPackets >= VOICED_PACKETS_MIN,
  }));
  const good = {
    ...{ origin: told, media: told, isEnded: true, isHeard: true, contact: `${told}:5060` },
    reinvites: [`200 ${told}`, `200 ${told}`],
  };
  expect(essence).toEqual(calls.map(() => good));
}
