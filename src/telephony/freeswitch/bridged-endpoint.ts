/** Media of one call through FreeSWITCH: a leg to the carrier, a leg to the media engine, and their bridge. */
import { type Clock, within } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import type { MediaSession } from '../../media/audio-stream.ts';
import type { CodecName } from '../../rtp/codecs.ts';
import { offer } from '../../rtp/sdp-answer.ts';
import type { TrustedHosts } from '../../rtp/source-lock.ts';
import { LinkedAudio, SessionEndpoint } from '../media-gateway.ts';
import { engineOffer, type Flow, flowOf, limited, placeOf, withOrigin } from './carrier-sdp.ts';
import { FarEndSource } from './far-end-source.ts';
import type { FreeSwitchServer } from './freeswitch-server.ts';
import { type FsmrfEndpoint, mediaErrorOf, modify, statusOf } from './fsmrf.ts';

/** A FreeSWITCH that is well re-negotiates in 10 ms. */
const MODIFY_MS_MAX = 3_000;

const CLOSE_MS_MAX = 2_000;

/** Retry interval while FreeSWITCH answers 491: up to 3 s in all, for a machine with little CPU. */
const RETRY_MS = 50;
const ATTEMPTS_MAX = 60;

/** Payload type that we give to telephone-event on both sides. */
const TELEPHONE_EVENT = 101;

const NOTHING_YET: Flow = { doesListen: true, doesSpeak: false };

interface BridgedEndpointOptions {
  /** Towards the carrier, bridged to `inner`. */
  readonly outer: FsmrfEndpoint;
  /** Towards the media engine. */
  readonly inner: FsmrfEndpoint;
  readonly session: MediaSession;
  /** Address of the media engine for FreeSWITCH. */
  readonly engineAddress: string;
  readonly codecs: readonly CodecName[] | undefined;
  /** IPv4 in our SDP; default: FreeSWITCH's own. */
  readonly advertisedAddress: string | undefined;
  /** The carrier's offer that `outer` was made from; undefined when there was none. */
  readonly remoteSdp: string | undefined;
  /** Sources of the carrier's RTP besides its SDP. */
  readonly hosts: TrustedHosts;
  /** Reports the packets that reach `outer`. */
  readonly server: Pick<FreeSwitchServer, 'watch' | 'trace'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends a leg that does not end by itself. */
  readonly kill: (uuid: string) => Promise<void>;
}

/** Media endpoint whose RTP passes through FreeSWITCH. */
export class BridgedEndpoint extends SessionEndpoint {
  readonly audio: LinkedAudio;
  readonly channels: readonly string[];
  readonly #options: BridgedEndpointOptions;
  readonly #source: FarEndSource;
  readonly #unwatch: () => void;
  /** One change of the outer leg after the other. */
  #changes: Promise<unknown> = Promise.resolve();
  #isHeld = false;
  #closed: Promise<void> | undefined;

  constructor(options: BridgedEndpointOptions) {
    const { outer, inner, session, server, hosts, clock, remoteSdp } = options;
    super(session);
    this.#options = options;
    this.audio = new LinkedAudio(session);
    this.channels = [outer.uuid, inner.uuid];
    for (const leg of [outer, inner]) {
      leg.on('destroy', () => {
        if (this.#closed === undefined) this.audio.mediaLost();
      });
    }
    this.#source = new FarEndSource({
      ...hosts,
      relayedPackets: async () => (await session.stats()).packetsReceived,
      trace: (isOn) => server.trace(outer.uuid, isOn),
      onMoved: () => void this.#followSource(),
      clock,
    });
    this.#unwatch = server.watch(outer.uuid, (packet) => this.#source.take(packet));
    this.remoteSdp = remoteSdp;
    if (remoteSdp === undefined) this.offer();
    else {
      this.#describe(outer.dialog.remote.sdp);
      this.#source.expect(remoteSdp);
    }
    this.#connect(remoteSdp === undefined ? NOTHING_YET : flowOf(remoteSdp));
  }

  async negotiate(remoteSdp: string): Promise<string> {
    const { codecs } = this.#options;
    const wanted = limited(remoteSdp, codecs);
    // An answer often repeats its early media: FreeSWITCH needs no second re-INVITE.
    const isNew = wanted !== this.remoteSdp;
    const answer = isNew ? await this.#changeOuter(this.#source.located(wanted)) : undefined;
    this.remoteSdp = wanted;
    this.#source.expect(wanted);
    if (this.isOfferPending) this.isOfferPending = false;
    else if (answer !== undefined) this.#describe(answer);
    if (isNew) await this.#follow(flowOf(wanted));
    return this.localSdp;
  }

  offer(): string {
    const { codecs, outer } = this.#options;
    this.isOfferPending = true;
    const { address, port } = placeOf(outer.dialog.remote.sdp);
    return this.#describe(offer({ address, port, sessionId: 1, version: 0 }, codecs));
  }

  close(): Promise<void> {
    this.#source.stop();
    this.#unwatch();
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Gives the new address to FreeSWITCH alone, not to the far end. */
  async #followSource(): Promise<void> {
    const { log } = this.#options;
    try {
      if (this.remoteSdp !== undefined) {
        await this.#changeOuter(this.#source.located(this.remoteSdp));
      }
    } catch (error) {
      const why = messageOf(error);
      log.warn({ why }, 'FreeSWITCH does not take another address of the far end');
    }
  }

  #changeOuter(sdp: string): Promise<string> {
    const changed = this.#changes.then(() => this.#modify(this.#options.outer, sdp));
    this.#changes = changed.catch(() => undefined);
    return changed;
  }

  async #close(): Promise<void> {
    const { outer, inner, session } = this.#options;
    await Promise.all([session.close(), this.#end(outer), this.#end(inner)]);
  }

  async #end(leg: FsmrfEndpoint): Promise<void> {
    const { clock, kill } = this.#options;
    if (!leg.connected) return;
    try {
      await within(clock, CLOSE_MS_MAX, leg.destroy());
    } catch {
      // The leg's own connection is lost: the event socket still reaches it.
      await kill(leg.uuid);
    }
  }

  /** On hold the engine sends no media. FreeSWITCH is told so, because it would take the silence for a lost leg. */
  async #follow(flow: Flow): Promise<void> {
    const isHeld = !flow.doesListen;
    if (isHeld !== this.#isHeld) {
      await this.#modify(this.#options.inner, this.#engineSdp(isHeld));
      this.#isHeld = isHeld;
    }
    this.#connect(flow);
  }

  #connect({ doesListen, doesSpeak }: Flow): void {
    const { inner, session } = this.#options;
    const { address, port } = placeOf(inner.dialog.remote.sdp);
    session.setRemote({
      address,
      port,
      rtcpPort: port + 1,
      isRtcpMuxed: false,
      codec: 'PCMU',
      payloadType: 0,
      telephoneEventPayloadType: TELEPHONE_EVENT,
      maySend: doesListen,
      mayReceive: doesSpeak,
    });
  }

  #engineSdp(isHeld: boolean): string {
    const { session, engineAddress } = this.#options;
    const sdp = engineOffer(session.localPort, engineAddress);
    return isHeld ? sdp.replace('a=sendrecv', 'a=inactive') : sdp;
  }

  async #modify(leg: FsmrfEndpoint, sdp: string): Promise<string> {
    const { clock } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await within(clock, MODIFY_MS_MAX, modify(leg, sdp));
      } catch (error) {
        // FreeSWITCH is busy with its own change of the bridge. RFC 3261, 14.1.
        const isBusy = statusOf(error) === 491 && attempt < ATTEMPTS_MAX;
        if (!isBusy) throw mediaErrorOf(error);
        await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
      }
    }
  }

  /** FreeSWITCH's or our own description, in our name. */
  #describe(sdp: string): string {
    const { advertisedAddress: address } = this.#options;
    return this.describe((origin) => withOrigin(sdp, { ...origin, address }));
  }
}
