/** The carrier's contract on our own SIP engine and a real FreeSWITCH: TELEPHONY=embedded, MEDIA=freeswitch. */
import { describe, test } from 'vitest';
import { describeCarrier } from '../telephony/carrier.contract.ts';
import { describeIncomingCalls } from '../telephony/incoming.contract.ts';
import { describeIncomingRefers } from '../telephony/incoming-refer.contract.ts';
import { describeOutgoingCalls } from '../telephony/outgoing.contract.ts';
import { phoneWorld } from '../telephony/phone-world.ts';
import { frontFreeSwitchPlane } from '../telephony/real-plane.ts';
import { findRealServers } from '../telephony/real-servers.ts';
import { describeReplacements } from '../telephony/replaces.contract.ts';
import { describeSourceLock } from '../telephony/source-lock.contract.ts';
import { describeThreeWay } from '../telephony/three-way.contract.ts';
import { describeTransfers } from '../telephony/transfer.contract.ts';
import { describeTrunks } from '../telephony/trunk.contract.ts';
import { describeWire } from '../telephony/wire.contract.ts';

const servers = await findRealServers('carrier contract, embedded SIP and FreeSWITCH');

if (servers === undefined) {
  describe.skip('embedded SIP and FreeSWITCH', () => test('is not here', () => undefined));
} else {
  describeCarrier('embedded SIP and FreeSWITCH', phoneWorld(frontFreeSwitchPlane(servers)));
  describeIncomingCalls('embedded SIP and FreeSWITCH', frontFreeSwitchPlane(servers));
  describeOutgoingCalls('embedded SIP and FreeSWITCH', frontFreeSwitchPlane(servers));
  describeTransfers('embedded SIP and FreeSWITCH', frontFreeSwitchPlane(servers));
  describeThreeWay('embedded SIP and FreeSWITCH', frontFreeSwitchPlane(servers));
  describeIncomingRefers('embedded SIP and FreeSWITCH', frontFreeSwitchPlane(servers));
  describeReplacements('embedded SIP and FreeSWITCH', frontFreeSwitchPlane(servers));
  describeSourceLock('embedded SIP and FreeSWITCH', frontFreeSwitchPlane(servers));
  describeTrunks('embedded SIP and FreeSWITCH', frontFreeSwitchPlane(servers));
  describeWire('embedded SIP and FreeSWITCH', frontFreeSwitchPlane(servers));
}
