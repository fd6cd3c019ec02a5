/** The carrier's contract on real servers: TELEPHONY=drachtio, MEDIA=freeswitch. */
import { describe, test } from 'vitest';
import { describeCarrier } from '../telephony/carrier.contract.ts';
import { describeIncomingCalls } from '../telephony/incoming.contract.ts';
import { describeIncomingRefers } from '../telephony/incoming-refer.contract.ts';
import { describeOutgoingCalls } from '../telephony/outgoing.contract.ts';
import { phoneWorld } from '../telephony/phone-world.ts';
import { freeSwitchPlane } from '../telephony/real-plane.ts';
import { findRealServers } from '../telephony/real-servers.ts';
import { describeReplacements } from '../telephony/replaces.contract.ts';
import { describeSourceLock } from '../telephony/source-lock.contract.ts';
import { describeThreeWay } from '../telephony/three-way.contract.ts';
import { describeTransfers } from '../telephony/transfer.contract.ts';
import { describeTrunks } from '../telephony/trunk.contract.ts';
import { describeWire } from '../telephony/wire.contract.ts';

const servers = await findRealServers('carrier contract, drachtio and FreeSWITCH');

if (servers === undefined) {
  describe.skip('drachtio and FreeSWITCH', () => test('are not here', () => undefined));
} else {
  describeCarrier('drachtio and FreeSWITCH', phoneWorld(freeSwitchPlane(servers)));
  describeIncomingCalls('drachtio and FreeSWITCH', freeSwitchPlane(servers));
  describeOutgoingCalls('drachtio and FreeSWITCH', freeSwitchPlane(servers));
  describeTransfers('drachtio and FreeSWITCH', freeSwitchPlane(servers));
  describeThreeWay('drachtio and FreeSWITCH', freeSwitchPlane(servers));
  describeIncomingRefers('drachtio and FreeSWITCH', freeSwitchPlane(servers));
  describeReplacements('drachtio and FreeSWITCH', freeSwitchPlane(servers));
  describeSourceLock('drachtio and FreeSWITCH', freeSwitchPlane(servers));
  describeTrunks('drachtio and FreeSWITCH', freeSwitchPlane(servers));
  describeWire('drachtio and FreeSWITCH', freeSwitchPlane(servers));
}
