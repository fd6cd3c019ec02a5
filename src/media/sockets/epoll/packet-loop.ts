/** Media thread's wait: blocks in one epoll set until a packet, a timer or the thread's event loop is due. */
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { checked, type Libc, newMemory } from './libc.ts';

/** A socket that the loop watches. */
export interface ReadableSocket {
  readonly fd: number;
  /** Reads and delivers one datagram, if there is one. */
  read(nowMs: number): void;
}

/**
 * Packets within a millisecond of the last ones are read together: at 500 calls, 1,000 wake-ups a second serve 25,000
 * packets. With few calls a packet is read on arrival. Also the step of the pacer.
 */
const GATHER_MS = 1;

/** Longest time without a turn of the event loop, whose own timers epoll does not see. */
const TURN_MS_MAX = 10;

/** Reads in a row before timers are looked at again; after a stall each socket has several datagrams waiting. */
const READS_MAX = 32;

/** Never notified: for a sleep of less than a millisecond, which epoll cannot time. */
const pause = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

const CLOSE_ON_EXEC = 0o2000000;
const ADD = 1;
const REMOVE = 2;
const READABLE = 1;

/** Descriptors that one wait reports; the next wait reports further ones. */
const EVENTS_MAX = 64;

/** Words of a `struct epoll_event` and place of its descriptor; the events are word 0. Only x64 packs it. */
const EVENT = process.arch === 'x64' ? { words: 3, fd: 1 } : { words: 4, fd: 2 };

interface Timer {
  readonly dueAtMs: number;
  readonly ring: () => void;
}

/**
 * While sockets are open, the thread sleeps here rather than in Node's event loop, which makes a callback and two objects
 * for each packet. The event loop's own descriptor is in the set, so that a message of another thread is taken at once.
 * With no socket open and no timer set, the thread sleeps as any Node thread does. @see epoll(7)
 */
export class PacketLoop {
  /** Rings at its instant or later, never earlier. */
  readonly clock: Clock = {
    ...systemClock,
    after: (delayMs, ring) => this.#startTimer(delayMs, ring),
  };
  readonly #libc: Libc;
  readonly #epoll: number;
  readonly #event = newMemory(EVENT.words);
  readonly #events = newMemory(EVENT.words * EVENTS_MAX);
  /** By descriptor. */
  readonly #sockets: (ReadableSocket | undefined)[] = [];
  #socketCount = 0;
  readonly #timers = new Set<Timer>();
  #turn: NodeJS.Immediate | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #isEventLoopReady = false;

  /** @throws {Error} with the system's `code` when it refuses an epoll set. */
  constructor(libc: Libc) {
    this.#libc = libc;
    this.#epoll = checked(libc, 'epoll_create1', libc.epollCreate(CLOSE_ON_EXEC));
    this.#control(ADD, libc.eventLoopFd);
  }

  /**
   * Watches a socket.
   *
   * @throws {Error} with the system's `code`.
   */
  add(socket: ReadableSocket): void {
    checked(this.#libc, 'epoll_ctl', this.#control(ADD, socket.fd));
    this.#sockets[socket.fd] = socket;
    this.#socketCount += 1;
    this.#schedule();
  }

  /** Call it once for each socket, before its descriptor is closed. */
  remove({ fd }: ReadableSocket): void {
    this.#control(REMOVE, fd);
    this.#sockets[fd] = undefined;
    this.#socketCount -= 1;
  }

  /** Cancels all timers and frees the epoll set. */
  stop(): void {
    clearImmediate(this.#turn);
    this.#timers.clear();
    this.#libc.close(this.#epoll);
  }

  #control(operation: number, fd: number): number {
    this.#event[0] = READABLE;
    this.#event[EVENT.fd] = fd;
    return this.#libc.epollControl(this.#epoll, operation, fd, this.#event);
  }

  #startTimer(delayMs: number, ring: () => void): () => void {
    const timer = { dueAtMs: systemClock.nowMs() + delayMs, ring };
    this.#timers.add(timer);
    this.#schedule();
    return () => this.#timers.delete(timer);
  }

  get #isNeeded(): boolean {
    return this.#socketCount > 0 || this.#timers.size > 0;
  }

  #schedule(): void {
    this.#turn ??= setImmediate(() => {
      this.#run();
      this.#turn = undefined;
      if (this.#isNeeded) this.#schedule();
    });
  }

  /** Runs until the event loop needs its turn. */
  #run(): void {
    const endAtMs = systemClock.nowMs() + TURN_MS_MAX;
    this.#isEventLoopReady = false;
    do {
      // Timers first, so that packets leave on time.
      this.#ringNext();
      this.#readAll(this.#rest(endAtMs));
    } while (this.#isNeeded && !this.#isEventLoopReady && systemClock.nowMs() < endAtMs);
  }

  /** The earliest timer; there are one or two. */
  get #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (next === undefined || timer.dueAtMs < next.dueAtMs) next = timer;
    }
    return next;
  }

  #ringNext(): void {
    const next = this.#next;
    if (next === undefined || next.dueAtMs > systemClock.nowMs()) return;
    this.#timers.delete(next);
    next.ring();
  }

  /** Sleeps where packets may gather. @returns how long to wait for packets then, in whole milliseconds. */
  #rest(endAtMs: number): number {
    const nowMs = systemClock.nowMs();
    const restMs = Math.min(endAtMs, this.#next?.dueAtMs ?? endAtMs) - nowMs;
    if (restMs >= 1 && nowMs - this.#readAtMs >= GATHER_MS) return Math.floor(restMs);
    if (restMs > 0) Atomics.wait(pause, 0, 0, Math.min(restMs, GATHER_MS));
    return 0;
  }

  /** Reads all waiting datagrams, after waiting for the first one. */
  #readAll(waitMs: number): void {
    let hasPackets = this.#readReady(waitMs);
    for (let read = 1; hasPackets && read < READS_MAX; read += 1) hasPackets = this.#readReady(0);
  }

  /** Reads one datagram of each readable socket. @returns whether there was one. */
  #readReady(waitMs: number): boolean {
    // -1 for an interruption by a signal: nothing is ready.
    const ready = this.#libc.epollWait(this.#epoll, this.#events, EVENTS_MAX, waitMs);
    const nowMs = systemClock.nowMs();
    let hasPackets = false;
    for (let index = 0; index < ready; index += 1) {
      const fd = this.#events[index * EVENT.words + EVENT.fd] ?? 0;
      if (fd === this.#libc.eventLoopFd) this.#isEventLoopReady = true;
      else {
        hasPackets = true;
        // Closed since, where a datagram before it in these events led to that.
        this.#sockets[fd]?.read(nowMs);
      }
    }
    if (hasPackets) this.#readAtMs = nowMs;
    return hasPackets;
  }
}
