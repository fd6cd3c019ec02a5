/** Lists of servers as in settings, `10.0.0.1:9022*3,10.0.0.2`, and their weighted round robin; pure */
import { urlHost } from '../../lib/local-routes.ts';

/** One of several servers that do the same work. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** Its share of the new calls, in proportion to the others'. */
  readonly weight: number;
}

const SERVER = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]{1,253})(?::(\d{1,5}))?(?:\*(\d{1,3}))?$/;
const SERVERS_MAX = 32;

/** Whether `parseServers` can read it. */
export function isServerList(text: string): boolean {
  const entries = text.split(',');
  return entries.length <= SERVERS_MAX && entries.every((entry) => readServer(entry, 1) !== null);
}

/**
 * Reads the list.
 *
 * @param defaultPort for servers that name none.
 * @throws {RangeError} when it is no such list.
 */
export function parseServers(text: string, defaultPort: number): readonly ServerAddress[] {
  return text.split(',').map((entry) => {
    const server = readServer(entry, defaultPort);
    if (server === null)
      throw new RangeError(`Cannot read server "${entry.trim()}": expected host:port*weight`);
    return server;
  });
}

/** How logs and `/readyz` call a server. */
export function placeOf({ host, port }: Pick<ServerAddress, 'host' | 'port'>): string {
  return `${urlHost(host)}:${port}`;
}

function readServer(entry: string, defaultPort: number): ServerAddress | null {
  const match = SERVER.exec(entry.trim());
  if (match === null) return null;
  const [, host = '', portText, weightText] = match;
  const port = Number(portText ?? defaultPort);
  const weight = Number(weightText ?? 1);
  if (port < 1 || port > 65_535 || weight < 1) return null;
  return { host: host.replace(/^\[|\]$/g, ''), port, weight };
}

interface Seat<T> {
  readonly server: T;
  readonly weight: number;
  credit: number;
}

/** Deals work out to servers by their weights, without bursts to any of them: the smooth weighted round robin of nginx. */
export class WeightedTurns<T> {
  readonly #seats: readonly Seat<T>[];

  constructor(servers: readonly { readonly server: T; readonly weight: number }[]) {
    this.#seats = servers.map(({ server, weight }) => ({ server, weight, credit: 0 }));
  }

  /** Next healthy server; undefined without one. */
  next(isHealthy: (server: T) => boolean): T | undefined {
    const seats = this.#seats.filter(({ server }) => isHealthy(server));
    const total = seats.reduce((sum, { weight }) => sum + weight, 0);
    for (const seat of seats) seat.credit += seat.weight;
    const [chosen] = [...seats].sort((one, other) => other.credit - one.credit);
    if (chosen === undefined) return undefined;
    chosen.credit -= total;
    return chosen.server;
  }
}
