/** Blocks a thread until a packet, an instant or its event loop has something for it, and takes packets in batches. */
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { EpollSet } from './epoll-set.ts';
import { checked, type Libc, newMemory } from './libc.ts';

interface PacketLoopOptions {
  readonly libc: Libc;
  /** Reads one datagram of a socket that has some, and hands it over. */
  readonly read: (fd: number, nowMs: number) => void;
}

/**
 * Packets that follow one another closer than this are taken together. With few calls up each is taken when it comes;
 * with 500, a thousand wake-ups a second do for 25,000 packets: one for each turn of the send wheel. The caller waits for
 * it, half as long on average; so up to 200 calls it is the least, and from 400 on the most.
 */
const GATHER_MS = { min: 0.5, max: 1, perCall: 1 / 400 } as const;

/** In which each call brings a packet. */
const ROUND_MS = 20;

/** The event loop has a turn at least so often: its own timers are not among the things waited for. */
const TURN_MS_MAX = 10;

/** Looks at the sockets in a row; after a stall each of them has several datagrams waiting. */
const LOOKS_MAX = 32;

const EVENT_LOOP = 1;
const SOMETHING_ELSE = 2;

interface Ring {
  readonly dueAtMs: number;
  readonly ring: () => void;
}

/**
 * While sockets are open, the thread sleeps here and not in Node's event loop, which would make a callback and two
 * objects of each packet. The event loop's own descriptor is among those waited for, so that a message of another
 * thread is taken at once; then the loop has a turn. With no socket open and nobody to ring, it sleeps as any Node thread does.
 */
export class PacketLoop {
  /** Rings at the instant and not before. */
  readonly clock: Clock = {
    ...systemClock,
    after: (delayMs, ring) => this.#ringAfter(delayMs, ring),
  };
  readonly #options: PacketLoopOptions;
  readonly #sockets: EpollSet;
  /** Everything but packets. */
  readonly #quiet: EpollSet;
  readonly #all: EpollSet;
  readonly #timer: KernelTimer;
  readonly #rings = new Set<Ring>();
  #size = 0;
  #turn: NodeJS.Immediate | undefined;
  #tookAtMs = 0;
  #gatherMs: number = GATHER_MS.min;
  #roundEndsAtMs = 0;
  /** Packets of the round under way. */
  #packets = 0;

  /** @throws {Error} when the system gives no more descriptors, or refuses timers. */
  constructor(options: PacketLoopOptions) {
    const { libc } = options;
    this.#options = options;
    // First, since a sandbox that refuses timers is known to exist; Node itself waits by epoll.
    this.#timer = new KernelTimer(libc);
    this.#sockets = new EpollSet(libc);
    this.#quiet = new EpollSet(libc);
    this.#all = new EpollSet(libc);
    for (const set of [this.#quiet, this.#all]) {
      set.add(libc.eventLoopFd, EVENT_LOOP);
      set.add(this.#timer.fd, SOMETHING_ELSE);
    }
    this.#all.add(this.#sockets.fd, SOMETHING_ELSE);
  }

  /**
   * Waits for a socket's packets.
   *
   * @throws {Error} with the system's `code`; `remove` is due all the same.
   */
  add(fd: number): void {
    this.#size += 1;
    this.#sockets.add(fd, fd);
    this.#schedule();
  }

  /** Safe only once for each socket. */
  remove(fd: number): void {
    this.#sockets.remove(fd);
    this.#size -= 1;
  }

  /** Waits for nothing any more. */
  stop(): void {
    clearImmediate(this.#turn);
    this.#rings.clear();
    for (const part of [this.#all, this.#quiet, this.#sockets, this.#timer]) part.close();
  }

  #ringAfter(delayMs: number, ring: () => void): () => void {
    const entry = { dueAtMs: systemClock.nowMs() + delayMs, ring };
    this.#rings.add(entry);
    this.#schedule();
    return () => this.#rings.delete(entry);
  }

  get #isNeeded(): boolean {
    return this.#size > 0 || this.#rings.size > 0;
  }

  #schedule(): void {
    this.#turn ??= setImmediate(() => {
      this.#run();
      this.#turn = undefined;
      if (this.#isNeeded) this.#schedule();
    });
  }

  /** Goes on until the event loop has to have its turn. */
  #run(): void {
    const endAtMs = systemClock.nowMs() + TURN_MS_MAX;
    let nowMs: number;
    do {
      // What is due first, so that packets leave at their time.
      this.#ringDue(systemClock.nowMs());
      this.#take();
      nowMs = systemClock.nowMs();
      this.#countCalls(nowMs);
    } while (this.#isNeeded && nowMs < endAtMs && !this.#sleep(nowMs, endAtMs));
  }

  /** Rings what is due, the earliest first. */
  #ringDue(nowMs: number): void {
    for (
      let next = this.#next();
      next !== undefined && next.dueAtMs <= nowMs;
      next = this.#next()
    ) {
      this.#rings.delete(next);
      next.ring();
    }
  }

  #next(): Ring | undefined {
    let next: Ring | undefined;
    for (const ring of this.#rings) {
      if (next === undefined || ring.dueAtMs < next.dueAtMs) next = ring;
    }
    return next;
  }

  /** Takes all datagrams that have come. */
  #take(): void {
    for (let look = 0; look < LOOKS_MAX; look += 1) {
      const ready = this.#sockets.wait(0);
      if (ready === 0) return;
      this.#tookAtMs = systemClock.nowMs();
      for (let index = 0; index < ready; index += 1) {
        this.#options.read(this.#sockets.markAt(index), this.#tookAtMs);
      }
      this.#packets += ready;
    }
  }

  /** Learns by the packets of each round how many calls there are: of the sockets, many wait for nobody. */
  #countCalls(nowMs: number): void {
    if (nowMs < this.#roundEndsAtMs) return;
    const { min, max, perCall } = GATHER_MS;
    this.#gatherMs = Math.min(max, Math.max(min, this.#packets * perCall));
    this.#roundEndsAtMs = nowMs + ROUND_MS;
    this.#packets = 0;
  }

  /** @returns whether the event loop has something to do. */
  #sleep(nowMs: number, endAtMs: number): boolean {
    const untilMs = Math.min(endAtMs, this.#next()?.dueAtMs ?? endAtMs);
    if (untilMs <= nowMs) return false;
    const gatheredAtMs = this.#tookAtMs + this.#gatherMs;
    const isGathering = nowMs < gatheredAtMs;
    this.#timer.set((isGathering ? Math.min(untilMs, gatheredAtMs) : untilMs) - nowMs);
    const awaited = isGathering ? this.#quiet : this.#all;
    const ready = awaited.wait(TURN_MS_MAX);
    for (let index = 0; index < ready; index += 1) {
      if (awaited.markAt(index) === EVENT_LOOP) return true;
    }
    return false;
  }
}

const MONOTONIC = 1;
const CLOSE_ON_EXEC = 0o2000000;
const NON_BLOCKING = 0o4000;

const NS_PER_MS = 1e6;
const NS_PER_S = 1e9;

/** An alarm clock of the kernel, exact to some microseconds where a wait counts whole milliseconds. @see timerfd_create(2) */
class KernelTimer {
  readonly fd: number;
  readonly #libc: Libc;
  /** Interval and first time, each in seconds and nanoseconds of 64 bits, of which the upper halves stay 0. */
  readonly #time = newMemory(8);

  /** @throws {Error} with the system's `code` when it gives no timer, or does not let it be set. */
  constructor(libc: Libc) {
    this.#libc = libc;
    const fd = libc.timerCreate(MONOTONIC, CLOSE_ON_EXEC | NON_BLOCKING);
    this.fd = checked(libc, 'timerfd_create', fd);
    libc.closeWithThread(this.fd, true);
    try {
      this.set(0);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Makes the descriptor readable `delayMs` from now, and not before, whatever was set before. */
  set(delayMs: number): void {
    const ns = Math.max(1, Math.ceil(delayMs * NS_PER_MS));
    this.#time[4] = Math.floor(ns / NS_PER_S);
    this.#time[6] = ns % NS_PER_S;
    checked(this.#libc, 'timerfd_settime', this.#libc.timerSet(this.fd, 0, this.#time, null));
  }

  close(): void {
    this.#libc.closeWithThread(this.fd, false);
    this.#libc.close(this.fd);
  }
}
