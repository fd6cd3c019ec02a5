/** What a process that is measured holds: memory, file descriptors, threads. */
import { readdirSync, readFileSync } from 'node:fs';
import type { LineProcess } from './line-process.ts';
import type { EngineMemory } from './memory-answers.ts';

/** At one moment; sizes in KB. */
export interface Holdings {
  /** Of the whole process as it is, as the kernel counts: all its threads, their garbage, the allocator's own, SQLite's pages. */
  readonly residentKb: number;
  /** The same after garbage collection in all threads and a trim of `malloc`: memory in use. */
  readonly heldKb: number;
  /** Of what is resident, pages of files: programs, and the database where it is mapped. */
  readonly residentFileKb: number;
  /** Objects of the main thread. */
  readonly heapKb: number;
  /** What these objects hold outside of the heap. */
  readonly externalKb: number;
  /** Heaps of the other threads and what they hold. */
  readonly workersKb: number;
  /** Memory allocated with `malloc` and not yet freed. */
  readonly mallocUsedKb: number;
  /** Free memory that `malloc` keeps for reuse, before a trim. */
  readonly mallocFreeKb: number;
  readonly descriptors: number;
  readonly threads: number;
}

const KB = 1024;

/** Asks a process that answers as `memory-answers.ts` says. */
export async function holdingsOf(server: LineProcess): Promise<Holdings> {
  server.say('memory');
  const memory: EngineMemory = JSON.parse(await server.next('memory'));
  return {
    residentKb: memory.rss / KB,
    heldKb: memory.heldRss / KB,
    residentFileKb: statusKb(server.pid, 'RssFile'),
    heapKb: memory.heapUsed / KB,
    externalKb: memory.external / KB,
    workersKb: (memory.workersHeap + memory.workersExternal) / KB,
    mallocUsedKb: memory.mallocUsed / KB,
    mallocFreeKb: memory.mallocFree / KB,
    descriptors: readdirSync(`/proc/${server.pid}/fd`).length,
    threads: readdirSync(`/proc/${server.pid}/task`).length,
  };
}

/** @returns NaN where the system does not tell. */
export function residentKbOf(pid: number): number {
  return statusKb(pid, 'VmRSS');
}

function statusKb(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN);
}
