/** Where the results of `prefetch` go, which nobody wants but the compiler. */
const sink = new Float64Array(1);

/**
 * Most of what a packet costs is waiting for memory: with hundreds of lines, what one of them keeps lies far from the
 * processor when its turn comes. So before a batch of packets is worked on, each `prefetch` method along its way reads
 * what will be wanted, for all of them in a row: the processor waits for several at once. The numbers mean nothing, but
 * reading whose result is not kept would be left out.
 */
export function keepPrefetched(sum: number): void {
  sink[0] = sum;
}
