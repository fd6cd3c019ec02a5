/** The carrier's contract on a real drachtio-server with media of our own: TELEPHONY=drachtio, MEDIA=direct. */
import { describe, test } from 'vitest';
import { describeCarrier } from '../telephony/carrier.contract.ts';
import { describeHeaders } from '../telephony/headers.contract.ts';
import { describeIncomingCalls } from '../telephony/incoming.contract.ts';
import { describeIncomingRefers } from '../telephony/incoming-refer.contract.ts';
import { describeOutgoingCalls } from '../telephony/outgoing.contract.ts';
import { phoneWorld } from '../telephony/phone-world.ts';
import { describeProbes } from '../telephony/probe.contract.ts';
import { drachtioPlane, silentDrachtioPlane } from '../telephony/real-plane.ts';
import { findRealServers } from '../telephony/real-servers.ts';
import { describeReplacements } from '../telephony/replaces.contract.ts';
import { describeSourceLock } from '../telephony/source-lock.contract.ts';
import { describeThreeWay } from '../telephony/three-way.contract.ts';
import { describeTransfers } from '../telephony/transfer.contract.ts';
import { describeTrunks } from '../telephony/trunk.contract.ts';
import { describeWire } from '../telephony/wire.contract.ts';

const servers = await findRealServers('carrier contract, drachtio with direct media');

if (servers === undefined) {
  describe.skip('drachtio with direct media', () => test('is not here', () => undefined));
} else {
  describeCarrier('drachtio with direct media', phoneWorld(drachtioPlane(servers)));
  describeIncomingCalls('drachtio with direct media', drachtioPlane(servers));
  describeOutgoingCalls('drachtio with direct media', drachtioPlane(servers));
  describeTransfers('drachtio with direct media', drachtioPlane(servers));
  describeThreeWay('drachtio with direct media', drachtioPlane(servers));
  describeIncomingRefers('drachtio with direct media', drachtioPlane(servers));
  describeReplacements('drachtio with direct media', drachtioPlane(servers));
  describeSourceLock('drachtio with direct media', drachtioPlane(servers));
  describeTrunks('drachtio with direct media', silentDrachtioPlane(servers));
  describeProbes('drachtio with direct media', silentDrachtioPlane(servers), ['udp', 'tcp']);
  describeHeaders('drachtio with direct media', silentDrachtioPlane(servers));
  describeWire('drachtio with direct media', silentDrachtioPlane(servers));
}
