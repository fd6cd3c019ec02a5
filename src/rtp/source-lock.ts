/** Source lock (symmetric RTP latching): learns which source is the far end, so that strangers cannot speak into a call or listen to it; pure */

/** IPv4 address and port that packets come from. */
export interface Source {
  /** IPv4. */
  readonly address: string;
  readonly port: number;
}

/** Address set with the interface of Node's `BlockList`. */
export interface AddressSet {
  check(address: string, family: 'ipv4'): boolean;
}

/** Hosts besides the SDP's from which RTP may prove itself. */
export interface TrustedHosts {
  /** Source IP of the SIP messages; behind NAT, RTP comes from there too. */
  readonly signallingAddress: string;
  /** The carrier's addresses, which may send media although its SDP does not name them. */
  readonly carrier?: AddressSet | undefined;
}

/** Source of RTP by signalling. */
export interface ExpectedSource extends Source, TrustedHosts {}

/** Time after the answer in which an unannounced source may prove itself. */
const LEARNING_MS = 5000;

/** Packets in sequence that prove a source. */
const PROOF_PACKETS = 4;

/** Silence of a proven source after which another port of its host may prove itself. */
const RELEARN_AFTER_MS = 2000;

interface Candidate extends Source {
  readonly ssrc: number;
  nextSequence: number;
  packets: number;
}

/**
 * The address of the SDP is accepted at once. Within 5 s of the answer another source with the IP of the SDP, of signalling
 * or of the carrier is accepted after 4 packets in sequence with one SSRC. It stays until new SDP, or until it has been
 * silent for 2 s and another port of the same IP proves itself.
 *
 * @see RFC 7362 section 5
 */
export class SourceLock {
  #expected: ExpectedSource | undefined;
  #expectedAtMs = Number.NEGATIVE_INFINITY;
  #locked: Source | undefined;
  #lockedHeardAtMs = Number.NEGATIVE_INFINITY;
  #candidate: Candidate | undefined;
  #rejected = 0;

  /** Number of rejected packets. */
  get rejected(): number {
    return this.#rejected;
  }

  /** Address to send to: the proven source, else the SDP's. */
  get target(): Source | undefined {
    return this.#locked ?? this.#expected;
  }

  /**
   * Whether `accept` may now accept packets of that source, or count them as its proof. Call it before costly work, such as
   * their authentication; it changes no state.
   */
  mayHear(source: Source, nowMs: number): boolean {
    const locked = this.#locked;
    if (locked !== undefined && (source === locked || isSameSource(locked, source))) return true;
    return this.#rightOf(source, nowMs) !== 'none';
  }

  /** Applies new SDP. A repeated address changes nothing. */
  expect(expected: ExpectedSource, nowMs: number): void {
    const before = this.#expected;
    if (before !== undefined && isSameSource(before, expected)) return;
    this.#expected = expected;
    this.#expectedAtMs = nowMs;
    this.#locked = undefined;
    this.#candidate = undefined;
  }

  /** @returns whether an RTP packet is accepted. */
  accept(source: Source, packet: { ssrc: number; sequence: number }, nowMs: number): boolean {
    if (source === this.#locked) {
      this.#lockedHeardAtMs = nowMs;
      return true;
    }
    const isKnown = this.#locked !== undefined && isSameSource(this.#locked, source);
    if (!isKnown && !this.#mayLock(source, packet, nowMs)) {
      this.#rejected += 1;
      return false;
    }
    if (!isKnown) this.#candidate = undefined;
    // The object itself: sockets pass the same one while the sender is the same.
    this.#locked = source;
    this.#lockedHeardAtMs = nowMs;
    return true;
  }

  #mayLock(source: Source, packet: { ssrc: number; sequence: number }, nowMs: number): boolean {
    const right = this.#rightOf(source, nowMs);
    return right === 'at once' || (right === 'by proof' && this.#proves(source, packet));
  }

  /** How a source other than the locked one may become it. */
  #rightOf(source: Source, nowMs: number): 'at once' | 'by proof' | 'none' {
    const expected = this.#expected;
    // Nothing can be sent to port 0, so only a forged datagram comes from there.
    if (expected === undefined || source.port === 0) return 'none';
    const isLearning = nowMs - this.#expectedAtMs <= LEARNING_MS;
    const isSilent =
      nowMs - Math.max(this.#lockedHeardAtMs, this.#expectedAtMs) >= RELEARN_AFTER_MS;
    if (isSameSource(expected, source)) {
      return this.#locked === undefined || isLearning || isSilent ? 'at once' : 'none';
    }
    return this.#mayProve(source, { isLearning, isSilent }) ? 'by proof' : 'none';
  }

  #mayProve(source: Source, state: { isLearning: boolean; isSilent: boolean }): boolean {
    if (this.#locked !== undefined)
      return state.isSilent && source.address === this.#locked.address;
    if (source.address === this.#expected?.address) return state.isLearning || state.isSilent;
    return state.isLearning && this.#isNear(source);
  }

  #isNear({ address }: Source): boolean {
    const { signallingAddress, carrier } = this.#expected ?? {};
    return address === signallingAddress || carrier?.check(address, 'ipv4') === true;
  }

  #proves(source: Source, packet: { ssrc: number; sequence: number }): boolean {
    const candidate = this.#candidate;
    const isNext =
      candidate !== undefined &&
      isSameSource(candidate, source) &&
      candidate.ssrc === packet.ssrc &&
      candidate.nextSequence === packet.sequence;
    const packets = isNext ? candidate.packets + 1 : 1;
    this.#candidate = {
      ...{ address: source.address, port: source.port, ssrc: packet.ssrc, packets },
      nextSequence: (packet.sequence + 1) & 0xffff,
    };
    return packets >= PROOF_PACKETS;
  }
}

/** Whether both are one address and port, or neither is known. */
export function isSameSource(one: Source | undefined, other: Source | undefined): boolean {
  return one?.port === other?.port && one?.address === other?.address;
}
