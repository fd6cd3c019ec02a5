/** Lets a benchmark ask the process that it measures how much memory is in use, over the process's standard input. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { writeHeapSnapshot } from 'node:v8';
import type { Worker } from 'node:worker_threads';
import koffi from 'koffi';

/** What is held, in bytes, after a full collection. */
export interface EngineMemory {
  /** Of the whole process, when only the main thread's garbage has been collected. */
  readonly rss: number;
  /** The same with no thread's garbage, nor pages that `malloc` keeps for whoever asks next: what somebody still holds. */
  readonly heldRss: number;
  /** Of the main thread. */
  readonly heapUsed: number;
  readonly heapTotal: number;
  readonly external: number;
  readonly arrayBuffers: number;
  /** Of all other threads. */
  readonly workersHeap: number;
  readonly workersExternal: number;
  /** What `malloc` has given out to whoever asked, and what it keeps for whoever asks next. */
  readonly mallocUsed: number;
  readonly mallocFree: number;
}

/** A second collection frees what the first has only finalised. */
const COLLECTIONS = 3;

/** Of Linux with glibc, whose allocator is asked. */
const LIBC = 'libc.so.6';

/**
 * Answers every line `memory` with `memory {…}` on standard output. A line `snapshot FILE` writes a heap snapshot, and
 * is answered by `snapshot FILE`.
 *
 * @param options.onEnd called when there is nobody left who could ask.
 * @throws {Error} unless Node was started with `--expose-gc`.
 */
export function answerMemoryQuestions({ onEnd }: { readonly onEnd: () => void }): void {
  const { gc } = globalThis;
  const workers = new Set<Worker>();
  process.on('worker', (worker) => {
    workers.add(worker);
    worker.once('exit', () => workers.delete(worker));
  });
  if (gc === undefined) throw new Error('Cannot tell what is in use: start Node with --expose-gc');
  const lines = createInterface({ input: process.stdin });
  lines.on('line', async (line) => {
    const [word, file] = line.split(' ');
    if (word === 'snapshot') console.log(`snapshot ${writeHeapSnapshot(file)}`);
    if (word !== 'memory') return;
    for (let times = 0; times < COLLECTIONS; times += 1) {
      gc();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const main = process.memoryUsage();
    await collectIn(workers);
    koffi.load(LIBC).func('int malloc_trim(size_t pad)')(0);
    const heldRss = process.memoryUsage().rss;
    const memory: EngineMemory = {
      ...main,
      heldRss,
      ...(await heldByWorkers(workers)),
      ...mallocated(),
    };
    console.log(`memory ${JSON.stringify(memory)}`);
  });
  lines.once('close', onEnd);
}

/**
 * A snapshot of a thread's heap begins with a full collection, and nothing else asks another thread for one. Memory that
 * threads share goes back only when all of them have let go of it.
 */
async function collectIn(workers: Iterable<Worker>): Promise<void> {
  for (const worker of workers) {
    const snapshot = await worker.getHeapSnapshot();
    snapshot.resume();
    await once(snapshot, 'end');
  }
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
