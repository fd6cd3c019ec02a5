/** Remembers for a while who refused a TCP connection, so that long requests to them do not wait again. */
import type { Clock } from '../../lib/clock.ts';
import type { Endpoint } from './flow.ts';
import { formatEndpoint } from './flow.ts';

const REMEMBERED_MS = 300_000;
const PEERS_MAX = 256;

export class RefusedPeers {
  readonly #clock: Clock;
  readonly #untilMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(peer: Endpoint): boolean {
    const untilMs = this.#untilMs.get(formatEndpoint(peer));
    return untilMs !== undefined && untilMs > this.#clock.nowMs();
  }

  /** Forgets the one noted longest ago when there are too many. */
  add(peer: Endpoint): void {
    const key = formatEndpoint(peer);
    this.#untilMs.delete(key);
    const [oldest] = this.#untilMs.keys();
    if (this.#untilMs.size >= PEERS_MAX && oldest !== undefined) this.#untilMs.delete(oldest);
    this.#untilMs.set(key, this.#clock.nowMs() + REMEMBERED_MS);
  }
}
