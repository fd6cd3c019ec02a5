/** The production plane for tests: a real drachtio-server, and media of our own or through a real FreeSWITCH. */
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { MediaEngine } from '../../src/media/engine/media-engine.ts';
import { answerChallenge } from '../../src/sip/digest.ts';
import { DrachtioServer } from '../../src/sip/drachtio-server/drachtio-server.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { DirectGateway, type StartedEngine } from '../../src/telephony/direct/direct-gateway.ts';
import { DrachtioCarrier } from '../../src/telephony/drachtio/carrier/drachtio-carrier.ts';
import { openSrf, type SrfClient } from '../../src/telephony/drachtio/carrier/srf.ts';
import { FreeSwitchGateway } from '../../src/telephony/freeswitch/freeswitch-gateway.ts';
import type { MediaGateway } from '../../src/telephony/media-gateway.ts';
import { credentialsOf } from '../../src/telephony/trunks/trunk-table.ts';
import { freePort } from '../support/network/free-ports.ts';
import { Rings, type StartPlane } from './plane.ts';
import type { RealServers } from './real-servers.ts';
import { SilentLines } from './silent-lines.ts';

const PARTS = { clock: systemClock, log: silentLogger };

type OpenGateway = (srf: SrfClient, engine: StartedEngine) => MediaGateway;

/** drachtio-server with our own media. */
export function drachtioPlane(servers: RealServers): StartPlane {
  return planeWith(servers, engineOf, (_, engine) => new DirectGateway({ engine }));
}

/** drachtio-server and FreeSWITCH. */
export function freeSwitchPlane(servers: RealServers): StartPlane {
  return planeWith(servers, engineOf, (srf, engine) => freeSwitchGateway(servers, srf, engine));
}

/** Our own SIP engine, and FreeSWITCH: TELEPHONY=embedded, MEDIA=freeswitch. */
export function frontFreeSwitchPlane(servers: RealServers): StartPlane {
  return async (trunks) => {
    const address = '127.0.0.1';
    const port = await freePort();
    const userAgent = new UserAgent({
      listen: [
        { protocol: 'UDP', address, port },
        { protocol: 'TCP', address, port },
      ],
    });
    const secret = 'only for tests';
    const credentialsFor = credentialsOf(trunks);
    const drachtioServer = new DrachtioServer({ userAgent, secret, port: 0, credentialsFor });
    await userAgent.start();
    await drachtioServer.start();
    const drachtio = [{ host: address, port: drachtioServer.port, weight: 1 }];
    const own = { drachtio, drachtioSecret: secret, doesAnswerChallenges: true };
    const plane = await freeSwitchPlane({ ...servers, ...own })(trunks);
    const stop = async () => {
      await plane.stop();
      await drachtioServer.stop();
      await userAgent.stop();
    };
    return { ...plane, stop };
  };
}

/** FreeSWITCH over whatever serves drachtio's protocol. */
export function freeSwitchGateway(
  { freeswitch, freeswitchSecret }: RealServers,
  srf: SrfClient,
  engine: StartedEngine,
): MediaGateway {
  const gateway = new FreeSwitchGateway({
    ...PARTS,
    srf,
    engine,
    servers: freeswitch,
    secret: freeswitchSecret,
  });
  return {
    open: (options) => gateway.open(options),
    start: async () => {
      await engine.start();
      await gateway.start();
    },
    stop: async () => {
      await gateway.stop();
      await engine.stop();
    },
  };
}

/** drachtio-server alone: nothing is ever heard. */
export function silentDrachtioPlane(servers: RealServers): StartPlane {
  return planeWith(
    servers,
    () => new SilentLines(),
    (_, engine) => new DirectGateway({ engine }),
  );
}

export function engineOf(): StartedEngine {
  const ports = { first: 18_600, last: 18_799 };
  return new MediaEngine({ ...PARTS, ports, workers: 1, drainMs: 0, isRealTime: false });
}

export function planeWith(
  servers: RealServers,
  openEngine: () => StartedEngine,
  openGateway: OpenGateway,
): StartPlane {
  return async (trunks) => {
    const [server] = servers.drachtio;
    if (server === undefined) throw new Error('Cannot set up: no drachtio-server');
    const srf = openSrf();
    const media = openGateway(srf, openEngine());
    await media.start();
    const carrier = new DrachtioCarrier({
      ...PARTS,
      ...server,
      srf,
      secret: servers.drachtioSecret,
      trunks,
      media,
      ...(!servers.doesAnswerChallenges && {
        answerChallenge: (refused: string, response: string) =>
          answerChallenge(credentialsOf(trunks), refused, response),
      }),
    });
    const rings = new Rings();
    await carrier.start(rings.take);
    const [, hostPort = ''] = /udp (\S+)/.exec(carrier.listenerReport().state) ?? [];
    const stop = async () => {
      await carrier.stop();
      await media.stop();
    };
    return { carrier, rings, hostPort, stop };
  };
}
