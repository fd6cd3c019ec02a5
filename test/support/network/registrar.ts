/** Kamailio as a carrier that a trunk registers with, in the outside of a `NatNetwork`; see registrar.cfg. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { NetworkNamespace } from './network-namespace.ts';

const CONFIG = join(import.meta.dirname, 'registrar.cfg');
const START_MS_MAX = 15_000;

/** A trunk that registers with it by UDP: what its telephone calls, and what calls that telephone. */
export const REGISTERED_TRUNK = {
  name: 'registered',
  proxy: '203.0.113.100',
  username: 'trunk',
  password: 'registrar-password',
  register: true,
  numbers: ['+12025550123'],
  allowedSources: ['203.0.113.100'],
  callsPerSecond: 20,
};

/** The same by TCP. */
export const REGISTERED_BY_TCP = {
  ...REGISTERED_TRUNK,
  name: 'registered-by-tcp',
  proxy: '203.0.113.100;transport=tcp',
  username: 'trunk-tcp',
  numbers: ['+12025550124'],
};

export interface Registrar {
  /** URIs of the Contacts of all registrations so far, in order. */
  contacts(): readonly string[];
}

/** Resolves when it listens. It ends with the namespace. @throws {Error} with what it printed, when it does not start. */
export async function startRegistrar(namespace: NetworkNamespace): Promise<Registrar> {
  const kamailio = namespace.start(['kamailio', '-f', CONFIG, '-DD', '-E', '-m', '32', '-M', '4']);
  let output = '';
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-20_000);
  };
  kamailio.stdout?.on('data', keep);
  kamailio.stderr?.on('data', keep);
  const deadlineMs = performance.now() + START_MS_MAX;
  while (!namespace.run('ss', '-Hlun').includes('203.0.113.100:5060')) {
    if (kamailio.exitCode !== null || performance.now() > deadlineMs) {
      throw new Error(`Cannot start kamailio: ${output}`);
    }
    await wait(100);
  }
  return {
    contacts: () => [...output.matchAll(/registered <([^>]+)>/g)].map(([, uri = '']) => uri),
  };
}
