/** Instants as the tables have them, Unix milliseconds, and as the domain has them; pure */

/** Null where there is no instant. */
export function dateOf(unixMs: number | null | undefined): Date | null {
  return unixMs === null || unixMs === undefined ? null : new Date(unixMs);
}
