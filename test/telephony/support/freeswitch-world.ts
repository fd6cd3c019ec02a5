/** The FreeSWITCH gateway with a stand-in for FreeSWITCH and lines without sound. */
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { FreeSwitchGateway } from '../../../src/telephony/freeswitch/freeswitch-gateway.ts';
import { openDrachtioServerWorld } from '../../support/sip/drachtio-server-world.ts';
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

interface GatewayWorldOptions {
  readonly orphanChannels?: readonly string[];
  /** How many stand-ins there are; one unless said otherwise. */
  readonly servers?: number;
}

/** A gateway on stand-ins for FreeSWITCH; all stop when the test is over. */
export async function openGateway({ servers = 1, ...options }: GatewayWorldOptions = {}) {
  const world = await openDrachtioServerWorld();
  const double = new FreeSwitchDouble();
  const doubles = [double, ...Array.from({ length: servers - 1 }, () => new FreeSwitchDouble())];
  for (const each of doubles) await each.start();
  const lines = new SilentLines();
  const gateway = new FreeSwitchGateway({
    ...options,
    engine: lines,
    servers: doubles.map(({ events }) => ({ host: '127.0.0.1', port: events.port, weight: 1 })),
    secret: EVENT_SECRET,
    srf: world.srf,
    clock: systemClock,
    log: silentLogger,
  });
  onTestFinished(async () => {
    await gateway.stop();
    await world.stop();
    for (const each of doubles) await each.stop();
  });
  return { double, doubles, lines, gateway };
}
