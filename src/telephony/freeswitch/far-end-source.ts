/** Finds where a far end's RTP comes from when FreeSWITCH turns it away, because the SDP names another address. */
import type { Clock } from '../../lib/clock.ts';
import { type Source, SourceLock, type TrustedHosts } from '../../rtp/source-lock.ts';
import { rtpPlaceOf, withRtpPlace } from './carrier-sdp.ts';

/** While a new source may prove itself, as `SourceLock` has it. */
const LEARNING_MS = 5_000;
const LEARNING_CHECK_MS = 100;
/** After that: silence of the far end as long as `SourceLock` wants before another port may prove itself. */
const CHECK_MS = 2_000;

/** Reports in vain between two checks; more come from a host that throws RTP at the port, and each costs a line. */
const PACKETS_MAX = 500;

/** FreeSWITCH does not tell the SSRC, so that a source is proven by its sequence alone. */
const ANY_SSRC = 0;

export interface FarEndSourceOptions extends TrustedHosts {
  /** How many packets of the far end have come through FreeSWITCH. */
  readonly relayedPackets: () => Promise<number>;
  /** Has FreeSWITCH report each packet that reaches the leg, or no longer. Never rejects. */
  readonly trace: (isOn: boolean) => Promise<void>;
  /** Called when FreeSWITCH has to be told another address: `located` has it. */
  readonly onMoved: () => void;
  readonly clock: Clock;
}

/**
 * FreeSWITCH takes RTP from the address and port of the SDP alone (`disable-rtp-auto-adjust`): its own way to adjust
 * believes whoever sends first. So while nothing is heard, it reports where packets come from, `SourceLock` says whether
 * that is the far end, as it does for lines without FreeSWITCH, and FreeSWITCH gets the SDP with the proven address.
 */
export class FarEndSource {
  readonly #options: FarEndSourceOptions;
  readonly #lock = new SourceLock();
  #expected: Source | undefined;
  #told: Source | undefined;
  #expectedAtMs = 0;
  #relayed = 0;
  #reported = 0;
  #isTracing = false;
  #isStopped = false;
  #stopTimer: () => void = () => undefined;

  constructor(options: FarEndSourceOptions) {
    this.#options = options;
  }

  /** Takes the far end's SDP that FreeSWITCH has agreed to. A repeated address changes nothing. */
  expect(sdp: string): void {
    const { clock, signallingAddress, carrier } = this.#options;
    const place = rtpPlaceOf(sdp);
    if (place === undefined || isSame(place, this.#expected)) return;
    this.#expected = place;
    this.#told = place;
    this.#expectedAtMs = clock.nowMs();
    this.#reported = 0;
    this.#lock.expect({ ...place, signallingAddress, carrier }, this.#expectedAtMs);
    this.#stopTimer();
    void this.#check();
  }

  /** The far end's SDP with the address that its RTP has proven to come from. */
  located(sdp: string): string {
    const place = rtpPlaceOf(sdp);
    if (!isSame(place, this.#expected) || isSame(place, this.#told)) return sdp;
    return this.#told === undefined ? sdp : withRtpPlace(sdp, this.#told);
  }

  /** Takes a packet that FreeSWITCH reports. */
  take({ source, sequence }: TracedPacket): void {
    const { clock, onMoved } = this.#options;
    if (this.#isStopped || !this.#isTracing) return;
    this.#reported += 1;
    this.#lock.accept(source, { ssrc: ANY_SSRC, sequence }, clock.nowMs());
    const { target } = this.#lock;
    if (target !== undefined && !isSame(target, this.#told)) {
      this.#told = target;
      onMoved();
    } else if (this.#reported >= PACKETS_MAX) void this.#trace(false);
  }

  /** The leg ends. Safe to call twice. */
  stop(): void {
    this.#isStopped = true;
    this.#stopTimer();
  }

  async #check(): Promise<void> {
    const { clock } = this.#options;
    const relayed = await this.#options.relayedPackets();
    const isHeard = relayed !== this.#relayed;
    this.#relayed = relayed;
    if (isHeard && this.#told !== undefined) {
      this.#lock.accept(this.#told, { ssrc: ANY_SSRC, sequence: 0 }, clock.nowMs());
    }
    await this.#trace(!isHeard && this.#reported < PACKETS_MAX);
    if (this.#isStopped) return;
    const isLearning = !isHeard && clock.nowMs() - this.#expectedAtMs < LEARNING_MS;
    if (!isLearning) this.#reported = 0;
    const checkMs = isLearning ? LEARNING_CHECK_MS : CHECK_MS;
    this.#stopTimer();
    this.#stopTimer = clock.after(checkMs, () => void this.#check());
  }

  async #trace(isOn: boolean): Promise<void> {
    if (isOn === this.#isTracing || this.#isStopped) return;
    this.#isTracing = isOn;
    await this.#options.trace(isOn);
  }
}

function isSame(one: Source | undefined, other: Source | undefined): boolean {
  return one?.address === other?.address && one?.port === other?.port;
}

/** What FreeSWITCH tells of the RTP packets that reach a leg, those included that it does not believe */
export interface TracedPacket {
  readonly source: Source;
  readonly sequence: number;
}

/**
 * The line that `uuid_debug_media … read on` makes of each packet of a type that was agreed on:
 *
 *     R sofia/offhook_outer/… b=  92 10.0.0.5:24004 192.0.2.1:4000 203.0.113.50:61000 pt=0 ts=160 seq=7 m=0
 *                                    FreeSWITCH     by the SDP     really from
 */
const LINE =
  /^R \S+ b= *\d+ \S+:\d+ \S+:\d+ ((?:\d{1,3}\.){3}\d{1,3}):(\d{1,5}) pt=\d+ ts=\d+ seq=(\d{1,5}) /;

/** Reads a line of FreeSWITCH's log; undefined when it is another one. @see switch_rtp.c, read_rtp_packet */
export function tracedPacketIn(line: string): TracedPacket | undefined {
  const [, address, port, sequence] = LINE.exec(line) ?? [];
  if (address === undefined) return undefined;
  return { source: { address, port: Number(port) }, sequence: Number(sequence) };
}
