/** The order in which servers of SRV records are tried: by priority, and at random by weight within one; pure */

/** What the order depends on. */
export interface WeightedServer {
  readonly priority: number;
  /** Share of the first attempts among servers of the same priority. */
  readonly weight: number;
}

/**
 * Draws an order.
 *
 * @param random from 0 up to 1; drawn once a server.
 * @see RFC 2782, "Weight"
 */
export function inSrvOrder<Server extends WeightedServer>(
  servers: readonly Server[],
  random: () => number,
): readonly Server[] {
  const priorities = [...new Set(servers.map(({ priority }) => priority))].sort((a, b) => a - b);
  return priorities.flatMap((priority) =>
    drawn(
      servers.filter((server) => server.priority === priority),
      random,
    ),
  );
}

function drawn<Server extends WeightedServer>(
  servers: readonly Server[],
  random: () => number,
): readonly Server[] {
  // Those without weight come first, so that they have a small chance: a draw of 0.
  const left = [...servers].sort((a, b) => Number(a.weight > 0) - Number(b.weight > 0));
  const order: Server[] = [];
  while (left.length > 0) {
    const sum = left.reduce((total, { weight }) => total + weight, 0);
    // A whole number from 0 to the sum, both included.
    let rest = Math.floor(random() * (sum + 1));
    const index = left.findIndex(({ weight }) => {
      rest -= weight;
      return rest <= 0;
    });
    order.push(...left.splice(Math.max(0, index), 1));
  }
  return order;
}
