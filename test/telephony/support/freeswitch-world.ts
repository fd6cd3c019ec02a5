/** The FreeSWITCH gateway with a stand-in for FreeSWITCH and lines without sound. */
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { FreeSwitchGateway } from '../../../src/telephony/freeswitch/freeswitch-gateway.ts';
import { openFrontWorld } from '../../support/front-world.ts';
import { SilentLines } from '../silent-lines.ts';
import { EVENT_SECRET } from './event-socket-server.ts';
import { FreeSwitchDouble } from './freeswitch-double.ts';

/** Where SIP came from. */
export const FROM = { signallingAddress: '192.0.2.1' };

/** What a carrier offers. */
export const OFFER = [
  'v=0',
  'o=- 1 1 IN IP4 192.0.2.1',
  's=-',
  'c=IN IP4 192.0.2.1',
  't=0 0',
  'm=audio 4000 RTP/AVP 8 0 101',
  'a=rtpmap:101 telephone-event/8000',
  '',
].join('\r\n');
/** The same carrier puts us on hold. */
export const HOLD = `${OFFER}a=sendonly\r\n`;

/** A gateway on a stand-in for FreeSWITCH; both stop when the test is over. */
export async function openGateway(options: { readonly orphanChannels?: readonly string[] } = {}) {
  const [double, world] = [new FreeSwitchDouble(), await openFrontWorld()];
  await double.start();
  const lines = new SilentLines();
  const gateway = new FreeSwitchGateway({
    ...options,
    engine: lines,
    servers: [{ host: '127.0.0.1', port: double.events.port, weight: 1 }],
    secret: EVENT_SECRET,
    srf: world.srf,
    clock: systemClock,
    log: silentLogger,
  });
  onTestFinished(async () => {
    await gateway.stop();
    await world.stop();
    await double.stop();
  });
  return { double, lines, gateway };
}
