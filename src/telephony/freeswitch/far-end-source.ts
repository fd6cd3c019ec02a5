/** Finds the actual RTP source of a far end whose SDP names another address, and which FreeSWITCH therefore ignores. */
import type { Clock } from '../../lib/clock.ts';
import { isSameSource, type Source, SourceLock, type TrustedHosts } from '../../rtp/source-lock.ts';
import { rtpPlaceOf, withRtpPlace } from './carrier-sdp.ts';

/** Time in which a new source may prove itself; the same as in `SourceLock`. */
const LEARNING_MS = 5_000;
const LEARNING_CHECK_MS = 100;
/** Afterwards: the silence that `SourceLock` requires before another port may prove itself. */
const CHECK_MS = 2_000;

/** Limit of reports between two checks: each packet of a flood costs a log line. */
const PACKETS_MAX = 500;

/** FreeSWITCH does not report the SSRC: a source is proven by its sequence numbers alone. */
const ANY_SSRC = 0;

interface FarEndSourceOptions extends TrustedHosts {
  /** Number of packets relayed by FreeSWITCH. */
  readonly relayedPackets: () => Promise<number>;
  /** Has FreeSWITCH report each packet that reaches the leg, or no longer. Never rejects. */
  readonly trace: (isOn: boolean) => Promise<void>;
  /** Called when FreeSWITCH needs another address; `located` gives it. */
  readonly onMoved: () => void;
  readonly clock: Clock;
}

/**
 * RTP source of one leg.
 *
 * FreeSWITCH accepts RTP only from the address in the SDP (`disable-rtp-auto-adjust`): its own adjustment trusts the
 * first sender. Without packets, it therefore reports the sources that it ignores, `SourceLock` decides whether one
 * of them is the far end, as in sessions without FreeSWITCH, and FreeSWITCH gets the SDP with the proven address.
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

  /** Notes the far end's SDP that FreeSWITCH has accepted. A repeated address changes nothing. */
  expect(sdp: string): void {
    const { clock, signallingAddress, carrier } = this.#options;
    const place = rtpPlaceOf(sdp);
    if (place === undefined || isSameSource(place, this.#expected)) return;
    this.#expected = place;
    this.#told = place;
    this.#expectedAtMs = clock.nowMs();
    this.#reported = 0;
    this.#lock.expect({ ...place, signallingAddress, carrier }, this.#expectedAtMs);
    this.#stopTimer();
    void this.#check();
  }

  /** Far end's SDP with the proven RTP address. */
  located(sdp: string): string {
    const place = rtpPlaceOf(sdp);
    if (!isSameSource(place, this.#expected) || isSameSource(place, this.#told)) return sdp;
    return this.#told === undefined ? sdp : withRtpPlace(sdp, this.#told);
  }

  /** Takes a packet that FreeSWITCH reports. */
  take({ source, sequence }: TracedPacket): void {
    const { clock, onMoved } = this.#options;
    if (this.#isStopped || !this.#isTracing) return;
    this.#reported += 1;
    this.#lock.accept(source, { ssrc: ANY_SSRC, sequence }, clock.nowMs());
    const { target } = this.#lock;
    if (target !== undefined && !isSameSource(target, this.#told)) {
      this.#told = target;
      onMoved();
    } else if (this.#reported >= PACKETS_MAX) void this.#trace(false);
  }

  /** Stops. Safe to call twice. */
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

/** RTP packet of a leg in FreeSWITCH's log, ignored ones included. */
export interface TracedPacket {
  readonly source: Source;
  readonly sequence: number;
}

/**
 * Log line of `uuid_debug_media … read on` for each packet of an agreed payload type:
 *
 *     R sofia/offhook_outer/… b=  92 10.0.0.5:24004 192.0.2.1:4000 203.0.113.50:61000 pt=0 ts=160 seq=7 m=0
 *                                    FreeSWITCH     by the SDP     actual source
 */
const LINE =
  /^R \S+ b= *\d+ \S+:\d+ \S+:\d+ ((?:\d{1,3}\.){3}\d{1,3}):(\d{1,5}) pt=\d+ ts=\d+ seq=(\d{1,5}) /;

/** Parses a line of FreeSWITCH's log; undefined for any other line. @see switch_rtp.c, read_rtp_packet */
export function tracedPacketIn(line: string): TracedPacket | undefined {
  const [, address, port, sequence] = LINE.exec(line) ?? [];
  if (address === undefined) return undefined;
  return { source: { address, port: Number(port) }, sequence: Number(sequence) };
}
