/** Deals work out to several servers in proportion to their weights, without bursts to any one of them; pure */

interface Seat<T> {
  readonly server: T;
  readonly weight: number;
  credit: number;
}

/** Each in its turn, the heavier ones more often: the smooth weighted round robin of nginx. */
export class WeightedTurns<T> {
  readonly #seats: readonly Seat<T>[];

  constructor(servers: readonly { readonly server: T; readonly weight: number }[]) {
    this.#seats = servers.map(({ server, weight }) => ({ server, weight, credit: 0 }));
  }

  /** Whose turn it is among those that are well; undefined when none is. */
  next(isWell: (server: T) => boolean): T | undefined {
    const seats = this.#seats.filter(({ server }) => isWell(server));
    const total = seats.reduce((sum, { weight }) => sum + weight, 0);
    for (const seat of seats) seat.credit += seat.weight;
    const [chosen] = [...seats].sort((one, other) => other.credit - one.credit);
    if (chosen === undefined) return undefined;
    chosen.credit -= total;
    return chosen.server;
  }
}
