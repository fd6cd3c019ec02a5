/** Composition root: carriers' RTP: received by the media engine, directly or through FreeSWITCH. */
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import type { Config } from '../config/config.ts';
import type { ReadinessCheck } from '../domain/call/engine-state.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { MediaEngine } from '../media/engine/media-engine.ts';
import { pairsIn } from '../media/engine/port-pool.ts';
import type { CarrierReport } from '../telephony/carrier.ts';
import { DirectGateway } from '../telephony/direct/direct-gateway.ts';
import type { FreeSwitchGateway } from '../telephony/freeswitch/freeswitch-gateway.ts';
import type { SipClient } from '../telephony/freeswitch/sip-probe.ts';
import type { MediaGateway } from '../telephony/media-gateway.ts';
import { parseServers, type ServerAddress } from '../telephony/trunks/server-list.ts';
import { mediaHostOf } from './addresses.ts';

/** Calls for which one media thread keeps its 20 ms pace, with a margin. */
const CALLS_PER_MEDIA_WORKER = 400;

/** The media side: one gateway for each SIP server. */
export interface MediaSide {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Opens and starts the gateway for the calls of one SIP server. @param sip the server's name in reports, and the connection to it. */
  gatewayFor(
    sip: { readonly name: string; readonly srf: SipClient },
    orphanChannels: readonly string[],
  ): Promise<MediaGateway>;
  /** Opens RTP sessions for other sources than carriers, such as WebRTC. */
  readonly lines: Pick<MediaEngine, 'open'>;
  /** The kind of sockets, for `/readyz`; always ok. */
  check(): ReadinessCheck;
  /** State of each media server; empty without FreeSWITCH. */
  reports(): readonly CarrierReport[];
}

interface MediaOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Chooses by `MEDIA`, which follows `TELEPHONY` when not given. */
export function openMediaSide(options: MediaOptions): MediaSide {
  const { TELEPHONY, MEDIA = TELEPHONY === 'embedded' ? 'direct' : 'freeswitch' } = options.config;
  return MEDIA === 'direct' ? directSide(options) : freeSwitchSide(options);
}

function directSide({ config, clock, log }: MediaOptions): MediaSide {
  const engine = engineAt(mediaHostOf(config), { config, clock, log });
  const gateway = new DirectGateway({ engine });
  return {
    start: () => gateway.start(),
    stop: () => gateway.stop(),
    gatewayFor: async () => gateway,
    lines: engine,
    check: () => socketsCheck(engine),
    reports: () => [],
  };
}

function freeSwitchSide({ config, clock, log }: MediaOptions): MediaSide {
  const servers = parseServers(config.FREESWITCH_HOST, config.FREESWITCH_PORT);
  const engine = engineAt(innerAddressOf(servers), { config, clock, log });
  const gateways = new Map<string, FreeSwitchGateway>();
  return {
    start: () => engine.start(),
    stop: async () => {
      await Promise.all([...gateways.values()].map((gateway) => gateway.stop()));
      await engine.stop();
    },
    gatewayFor: async ({ name, srf }, orphanChannels) => {
      // drachtio-fsmrf is a hundred modules, which only FreeSWITCH needs.
      const { FreeSwitchGateway } = await import('../telephony/freeswitch/freeswitch-gateway.ts');
      const secret = config.FREESWITCH_SECRET;
      const parts = { engine, servers, secret, srf, clock, log, orphanChannels };
      const gateway = new FreeSwitchGateway(parts);
      gateways.set(name, gateway);
      await gateway.start();
      return gateway;
    },
    lines: engine,
    check: () => socketsCheck(engine),
    reports: () => reportsOf(gateways),
  };
}

/** Each SIP server has its own connection to each FreeSWITCH. While one is open, all count as ready. */
function reportsOf(gateways: ReadonlyMap<string, FreeSwitchGateway>): readonly CarrierReport[] {
  const reports = [...gateways].flatMap(([from, gateway]) =>
    gateway.reports().map((report) => ({ ...report, from })),
  );
  const isReady = reports.some((report) => report.isReady);
  return reports.map(({ from, name, state }) => ({
    name: gateways.size === 1 ? name : `${name} from ${from}`,
    isReady,
    state,
  }));
}

function engineAt(address: string, { config, clock, log }: MediaOptions): MediaEngine {
  // Media threads may have real-time priority: one core is left for the rest.
  const cores = Math.max(1, availableParallelism() - 1);
  const workers = Math.min(cores, Math.ceil(config.MAX_CALLS / CALLS_PER_MEDIA_WORKER));
  const pairs = pairsIn(config.RTP_PORTS);
  if (pairs < config.MAX_CALLS) {
    const facts = { pairs, callsMax: config.MAX_CALLS };
    log.warn(facts, 'RTP_PORTS has fewer pairs of ports than MAX_CALLS allows calls');
  }
  return new MediaEngine({ clock, log, ports: config.RTP_PORTS, address, workers });
}

function socketsCheck({ sockets }: MediaEngine): ReadinessCheck {
  const state = sockets === undefined ? 'not open yet' : `${sockets.name}: ${sockets.reason}`;
  return { name: 'media sockets', isOk: true, state };
}

/** The address for RTP with FreeSWITCH: loopback where every server is on this machine, otherwise any interface. */
function innerAddressOf(servers: readonly ServerAddress[]): string {
  const isHere = ({ host }: ServerAddress) =>
    host === 'localhost' || (isIP(host) === 4 && host.startsWith('127.'));
  return servers.every(isHere) ? '127.0.0.1' : '0.0.0.0';
}
