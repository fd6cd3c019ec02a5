/** Media gateway through FreeSWITCH, which handles codecs, SRTP and NAT; the media engine stays behind it. */
import { unlessAborted, within } from '../../lib/clock.ts';
import type { MediaSession } from '../../media/audio-stream.ts';
import type { CarrierReport } from '../carrier.ts';
import {
  MediaError,
  type MediaGateway,
  type MediaOptions,
  openSession,
  type SessionOpener,
} from '../media-gateway.ts';
import { type ServerAddress, WeightedTurns } from '../trunks/server-list.ts';
import { BridgedEndpoint } from './bridged-endpoint.ts';
import { engineOffer, limited, silentOffer } from './carrier-sdp.ts';
import {
  type FreeSwitchConnection,
  FreeSwitchServer,
  type FreeSwitchServerOptions,
} from './freeswitch-server.ts';
import { createLeg, type FsmrfEndpoint, type FsmrfServer, mediaErrorOf } from './fsmrf.ts';

/** A server that is well makes a leg in 30 ms. */
const LEG_MS_MAX = 5_000;

/** The caller hears ringing meanwhile; an attempt that used up the time limit is the last. */
const ATTEMPTS_MAX = 3;

const NO_SRTP =
  'Cannot set up sound: a trunk with "srtp": "required" needs MEDIA=direct; FreeSWITCH encrypts only what a carrier offers so';

interface FreeSwitchGatewayOptions extends Omit<FreeSwitchServerOptions, 'address'> {
  readonly engine: SessionOpener;
  /** At least one. */
  readonly servers: readonly ServerAddress[];
}

/** Server for a call's legs. */
interface Place {
  readonly server: FreeSwitchServer;
  readonly connection: FreeSwitchConnection;
}

/** Media gateway that anchors RTP on FreeSWITCH. */
export class FreeSwitchGateway implements MediaGateway {
  readonly #options: FreeSwitchGatewayOptions;
  readonly #servers: readonly FreeSwitchServer[];
  readonly #turns: WeightedTurns<FreeSwitchServer>;

  constructor(options: FreeSwitchGatewayOptions) {
    const { servers } = options;
    this.#options = options;
    const seats = servers.map((address) => ({
      weight: address.weight,
      server: new FreeSwitchServer({ ...options, address }),
    }));
    this.#servers = seats.map(({ server }) => server);
    this.#turns = new WeightedTurns(seats);
  }

  /** Unreachable servers are not an error: they are retried. */
  async start(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.start()));
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) server.stop();
  }

  /** One report per server; all count as ready while one is healthy. */
  reports(): readonly CarrierReport[] {
    const reports = this.#servers.map((server) => server.report());
    const isAnyReady = reports.some(({ isReady }) => isReady);
    return reports.map((report) => ({ ...report, isReady: isAnyReady }));
  }

  async open(options: MediaOptions): Promise<BridgedEndpoint> {
    const { codecs, remoteSdp } = options;
    if (options.srtp === 'required') throw new MediaError(NO_SRTP, 488);
    // Checked before a port is taken: an unusable offer must not cost one.
    const offer = remoteSdp === undefined ? undefined : limited(remoteSdp, codecs);
    const { clock, log } = this.#options;
    const startedAtMs = clock.nowMs();
    const failed = new Set<FreeSwitchServer>();
    for (let attempt = 1; ; attempt += 1) {
      const place = this.#choose(failed);
      try {
        return await this.#openAt(place, options, offer);
      } catch (cause) {
        // Errors of the SDP, or of our own sessions, would repeat at any server.
        const error = cause instanceof MediaError ? cause : mediaErrorOf(cause);
        const isServers = error !== cause && error.sipStatus === 503;
        const hasTime = attempt < ATTEMPTS_MAX && clock.nowMs() - startedAtMs < LEG_MS_MAX;
        if (!isServers || !hasTime) throw error;
        const { name } = place.server.report();
        log.warn({ server: name, why: error.message }, 'a call could not be set up; trying again');
        failed.add(place.server);
      }
    }
  }

  /** Next server in turn; a failed one only without another. */
  #choose(failed: ReadonlySet<FreeSwitchServer>): Place {
    const isWell = ({ connection }: FreeSwitchServer) => connection !== undefined;
    const isFresh = (server: FreeSwitchServer) => isWell(server) && !failed.has(server);
    const server = this.#turns.next(isFresh) ?? this.#turns.next(isWell);
    const connection = server?.connection;
    if (server === undefined || connection === undefined) {
      throw new MediaError('Cannot set up sound: no FreeSWITCH is in reach', 503);
    }
    return { server, connection };
  }

  /** @param offer the carrier's offer, reduced to what the trunk allows; undefined when we make the offer. */
  async #openAt(
    place: Place,
    options: MediaOptions,
    offer: string | undefined,
  ): Promise<BridgedEndpoint> {
    const { near, isHeld = false } = options;
    const { localAddress: signallingAddress } = place.connection.socket;
    const line = { signallingAddress, near, isHeld };
    const session = await openSession(this.#options.engine, line);
    const made = this.#bridge(place, session, { ...options, offer });
    try {
      return await unlessAborted(made, place.connection.lost);
    } catch (error) {
      made.then((late) => late.close()).catch(() => undefined);
      await session.close();
      throw error;
    }
  }

  async #bridge(
    { server, connection }: Place,
    session: MediaSession,
    wish: MediaOptions & { readonly offer: string | undefined },
  ): Promise<BridgedEndpoint> {
    const { offer, codecs, advertisedAddress, signallingAddress, carrier } = wish;
    const hosts = { signallingAddress, carrier };
    const engineAddress = connection.socket.localAddress;
    const [outer, inner] = await this.#legs([
      [connection.outer, offer ?? silentOffer(codecs)],
      [connection.inner, engineOffer(session.localPort, engineAddress)],
    ]);
    const { clock, log } = this.#options;
    const kill = (uuid: string) => server.kill(uuid);
    try {
      await within(clock, LEG_MS_MAX, outer.bridge(inner));
      const own = { codecs, advertisedAddress, hosts, clock, log, kill, server };
      const parts = { outer, inner, session, engineAddress, ...own };
      return new BridgedEndpoint({ ...parts, remoteSdp: offer });
    } catch (error) {
      await Promise.all([outer, inner].map(({ uuid }) => kill(uuid)));
      throw error;
    }
  }

  /** Creates both legs, or none: a single or late one is ended. */
  async #legs(
    wishes: readonly [readonly [FsmrfServer, string], readonly [FsmrfServer, string]],
  ): Promise<readonly [FsmrfEndpoint, FsmrfEndpoint]> {
    const { clock } = this.#options;
    const made = wishes.map(([server, remoteSdp]) => createLeg(server, remoteSdp));
    const [outer, inner] = await Promise.allSettled(
      made.map((leg) => within(clock, LEG_MS_MAX, leg)),
    );
    if (outer?.status === 'fulfilled' && inner?.status === 'fulfilled') {
      return [outer.value, inner.value];
    }
    for (const leg of made) leg.then((late) => late.dialog.destroy()).catch(() => undefined);
    const failed = [outer, inner].find((result) => result?.status === 'rejected');
    throw failed?.status === 'rejected' ? failed.reason : new Error('no leg');
  }
}
