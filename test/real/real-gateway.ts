/** A gateway on a real FreeSWITCH, without calls: for what can be seen of its sound alone. */
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { openSrf } from '../../src/telephony/drachtio/carrier/srf.ts';
import { SrfLink } from '../../src/telephony/drachtio/carrier/srf-link.ts';
import { engineOf, freeSwitchGateway } from '../telephony/real-plane.ts';
import type { RealServers } from '../telephony/real-servers.ts';

export async function startRealGateway(servers: RealServers) {
  const [drachtio] = servers.drachtio;
  if (drachtio === undefined) throw new Error('Cannot set up: no drachtio-server');
  const srf = openSrf();
  const secret = servers.drachtioSecret;
  const link = new SrfLink(
    { ...drachtio, secret, srf, clock: systemClock, log: silentLogger },
    { listening: () => undefined, connected: () => undefined, lost: () => undefined },
  );
  const gateway = freeSwitchGateway(servers, srf, engineOf());
  await link.start();
  await gateway.start();
  const stop = async () => {
    await gateway.stop();
    link.stop();
  };
  return { open: gateway.open, stop };
}

/** A carrier's description on this machine, with telephone-event. */
export function offer(...lines: readonly string[]): string {
  const session = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'];
  return [...session, ...lines, 'a=rtpmap:101 telephone-event/8000', ''].join('\r\n');
}
