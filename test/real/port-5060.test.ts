/** The contract's wire cases with drachtio-server on 5060, the port of a SIP address that has none: trunks on its own machine. */
import { afterAll, beforeAll, describe } from 'vitest';
import { parseServers } from '../../src/telephony/trunks/server-list.ts';
import type { StartPlane } from '../telephony/plane.ts';
import { drachtioPlane, freeSwitchPlane } from '../telephony/real-plane.ts';
import type { RealServers } from '../telephony/real-servers.ts';
import { describeWire } from '../telephony/wire.contract.ts';
import { findPrograms, type RealWorld, startRealWorld } from './real-processes.ts';

const programs = findPrograms('wire contract with drachtio-server on 5060');

describe.skipIf(programs === undefined)('drachtio-server on 5060', () => {
  let world: RealWorld | undefined;

  beforeAll(async () => {
    if (programs !== undefined) world = await startRealWorld(programs, { sipPort: 5060 });
  });
  afterAll(() => world?.stop());

  const on = (planeOf: (servers: RealServers) => StartPlane): StartPlane => {
    return (trunks) => planeOf(serversOf(world))(trunks);
  };

  describeWire('with direct media', on(drachtioPlane));
  describeWire('with FreeSWITCH', on(freeSwitchPlane));
});

function serversOf(world: RealWorld | undefined): RealServers {
  if (world === undefined) throw new Error('Cannot set up: no servers');
  const { DRACHTIO_HOST = '', DRACHTIO_SECRET = '' } = world.environment;
  const { FREESWITCH_HOST = '', FREESWITCH_SECRET = '' } = world.environment;
  return {
    drachtio: parseServers(DRACHTIO_HOST, 9022),
    drachtioSecret: DRACHTIO_SECRET,
    freeswitch: parseServers(FREESWITCH_HOST, 8021),
    freeswitchSecret: FREESWITCH_SECRET,
  };
}
