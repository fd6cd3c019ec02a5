/** Quota of accepted connections: in total, by address, and a small one for strangers; pure */

/** Numbers of accepted connections that may be open at a time. */
export interface QuotaLimits {
  readonly connectionsMax: number;
  /** How many of them one address may have. */
  readonly connectionsPerPeerMax: number;
  /** How many of them all strangers together may have. */
  readonly strangersMax: number;
  /** How many of them one stranger may have. */
  readonly strangersPerPeerMax: number;
}

/** Counts accepted connections, TLS handshakes among them. */
export class ConnectionQuota {
  readonly #limits: QuotaLimits;
  readonly #byAddress = new Map<string, number>();
  #total = 0;
  #strangers = 0;

  constructor(limits: QuotaLimits) {
    this.#limits = limits;
  }

  /** @returns releases the place, safe to call twice; undefined when no place is left. */
  take(address: string, isStranger: boolean): (() => void) | undefined {
    if (!this.#hasRoom(address, isStranger)) return undefined;
    this.#add(address, isStranger, 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.#add(address, isStranger, -1);
      isHeld = false;
    };
  }

  #hasRoom(address: string, isStranger: boolean): boolean {
    const { connectionsMax, connectionsPerPeerMax, strangersMax, strangersPerPeerMax } =
      this.#limits;
    const ofPeer = this.#byAddress.get(address) ?? 0;
    if (this.#total >= connectionsMax || ofPeer >= connectionsPerPeerMax) return false;
    return !isStranger || (this.#strangers < strangersMax && ofPeer < strangersPerPeerMax);
  }

  #add(address: string, isStranger: boolean, count: 1 | -1): void {
    this.#total += count;
    if (isStranger) this.#strangers += count;
    const ofPeer = (this.#byAddress.get(address) ?? 0) + count;
    if (ofPeer === 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, ofPeer);
  }
}
