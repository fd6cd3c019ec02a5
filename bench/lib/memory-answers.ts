/** Lets a benchmark ask the process that it measures how much memory is in use, over the process's standard input. */
import { createInterface } from 'node:readline';
import { writeHeapSnapshot } from 'node:v8';
import type { Worker } from 'node:worker_threads';
import koffi from 'koffi';
import { collectAllGarbage } from './collect-garbage.ts';

/** Sizes in bytes. */
export interface EngineMemory {
  /** Of the whole process as it is, garbage and all: what an operator sees. */
  readonly rss: number;
  /** Free memory that `malloc` keeps for reuse at that moment. */
  readonly mallocFree: number;
  /** Resident memory after garbage collection in all threads and a trim of `malloc`: memory in use. */
  readonly heldRss: number;
  /** What is held of the main thread's heap, and outside of it by what is there. */
  readonly heapUsed: number;
  readonly external: number;
  /** What is held of all other threads' heaps, and outside of them likewise. */
  readonly workersHeap: number;
  readonly workersExternal: number;
  /** Memory allocated with `malloc` and not yet freed. */
  readonly mallocUsed: number;
}

/** Of Linux with glibc, whose allocator is asked. */
const LIBC = 'libc.so.6';

/**
 * Answers every line `memory` with `memory {…}` on standard output. A line `snapshot FILE` writes a heap snapshot, and
 * is answered by `snapshot FILE`.
 *
 * @param options.onEnd called when standard input ends.
 */
export function answerMemoryQuestions({ onEnd }: { readonly onEnd: () => void }): void {
  const workers = new Set<Worker>();
  process.on('worker', (worker) => {
    workers.add(worker);
    worker.once('exit', () => workers.delete(worker));
  });
  const lines = createInterface({ input: process.stdin });
  lines.on('line', async (line) => {
    const [word, file] = line.split(' ');
    if (word === 'snapshot') console.log(`snapshot ${writeHeapSnapshot(file)}`);
    if (word === 'memory') console.log(`memory ${JSON.stringify(await measure(workers))}`);
  });
  lines.once('close', onEnd);
}

async function measure(workers: Iterable<Worker>): Promise<EngineMemory> {
  const { rss } = process.memoryUsage();
  const { mallocFree } = mallocated();
  await collectAllGarbage();
  koffi.load(LIBC).func('int malloc_trim(size_t pad)')(0);
  const { rss: heldRss, heapUsed, external } = process.memoryUsage();
  const { mallocUsed } = mallocated();
  const held = { heldRss, heapUsed, external, mallocUsed };
  return { rss, mallocFree, ...held, ...(await heldByWorkers(workers)) };
}

async function heldByWorkers(workers: Iterable<Worker>) {
  const all = await Promise.all([...workers].map((worker) => worker.getHeapStatistics()));
  return {
    workersHeap: all.reduce((sum, { used_heap_size: bytes }) => sum + bytes, 0),
    workersExternal: all.reduce((sum, { external_memory: bytes }) => sum + bytes, 0),
  };
}

/** @see mallinfo(3) of glibc */
function mallocated() {
  const fields = ['arena', 'ordblks', 'smblks', 'hblks', 'hblkhd', 'usmblks', 'fsmblks'] as const;
  const rest = ['uordblks', 'fordblks', 'keepcost'] as const;
  const all = [...fields, ...rest].map((field) => [field, 'size_t'] as const);
  const Counts = koffi.struct(Object.fromEntries(all));
  const { uordblks, fordblks, hblkhd } = koffi.load(LIBC).func('mallinfo2', Counts, [])();
  return { mallocUsed: Number(uordblks) + Number(hblkhd), mallocFree: Number(fordblks) };
}
