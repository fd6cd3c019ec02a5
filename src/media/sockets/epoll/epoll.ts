/** Linux's epoll by koffi: the C library's calls, and the media thread's wait for a packet, a timer or its event loop. */

import { getSystemErrorName } from 'node:util';
import { type Clock, systemClock } from '../../../lib/clock.ts';

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
  /** Sockets by descriptor. */
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

/** Memory that a call reads or fills, never longer than the size that goes with it. */
type Memory = Uint8Array<ArrayBuffer> | Int32Array<ArrayBuffer>;

/** Zeroed memory with a fixed address: V8 moves small arrays that share its heap, but never an `ArrayBuffer`'s bytes. */
export function newMemory(words: number): Int32Array<ArrayBuffer> {
  return new Int32Array(new ArrayBuffer(words * Int32Array.BYTES_PER_ELEMENT));
}

/** `sendto` or `recvfrom`. Pointers are numbers from `addressOf`: converting a view costs half as much as the call itself. */
type PacketCall = (
  fd: number,
  datagramAt: number,
  datagramBytes: number,
  flags: number,
  addressAt: number,
  /** A pointer to the size in `recvfrom`. */
  addressBytes: number,
) => number;

/**
 * Functions by their C names. They return -1 for an error, and are synchronous: memory cannot be freed during a call. A
 * descriptor that is not closed is closed when its thread ends, however it ends.
 */
export interface Libc {
  readonly socket: (domain: number, type: number, protocol: number) => number;
  readonly bind: (fd: number, address: Memory, addressBytes: number) => number;
  readonly close: (fd: number) => number;
  readonly sendto: PacketCall;
  readonly recvfrom: PacketCall;
  readonly epollCreate: (flags: number) => number;
  readonly epollControl: (epoll: number, operation: number, fd: number, event: Memory) => number;
  readonly epollWait: (epoll: number, events: Memory, count: number, limitMs: number) => number;
  /** Address of memory from `newMemory`; valid while the caller holds that memory. */
  readonly addressOf: (memory: Memory) => number;
  /** Error number of the last call. */
  readonly errno: () => number;
  /** Descriptor of this thread's event loop; readable when the loop has work. */
  readonly eventLoopFd: number;
}

/**
 * Loads the functions for the calling thread.
 *
 * @throws {Error} on another system or processor, and when koffi, an optional package, does not load.
 */
export async function loadLibc(): Promise<Libc> {
  const { platform, arch } = process;
  // Other processors have other layouts of C structures.
  if (platform !== 'linux' || (arch !== 'x64' && arch !== 'arm64')) {
    throw new Error(`no system calls are known for ${platform} on ${arch}`);
  }
  const { default: koffi } = await import('koffi');
  const c = koffi.load(null);
  const { env } = koffi.node;
  const loop: [unknown] = [null];
  const findLoop = c.func('int napi_get_uv_event_loop(void *, _Out_ void **)');
  if (findLoop(env, loop) !== 0) throw new Error('the event loop of the thread is not found');
  // A hook is called with one argument, as `close` is.
  const close: unknown = c.symbol('close');
  const addHook = c.func('int napi_add_env_cleanup_hook(void *, void *, intptr_t)');
  const removeHook = c.func('int napi_remove_env_cleanup_hook(void *, void *, intptr_t)');
  const newSocket = c.func('int socket(int, int, int)');
  const newEpoll = c.func('int epoll_create1(int)');
  const closeNow = c.func('int close(int)');
  const closedWithThread = (fd: number) => {
    if (fd >= 0) addHook(env, close, fd);
    return fd;
  };
  return {
    socket: (...args) => closedWithThread(newSocket(...args)),
    bind: c.func('int bind(int, void *, int)'),
    close: (fd) => {
      removeHook(env, close, fd);
      return closeNow(fd);
    },
    sendto: c.func('long sendto(int, uintptr_t, size_t, int, uintptr_t, int)'),
    recvfrom: c.func('long recvfrom(int, uintptr_t, size_t, int, uintptr_t, uintptr_t)'),
    epollCreate: (flags) => closedWithThread(newEpoll(flags)),
    epollControl: c.func('int epoll_ctl(int, int, int, void *)'),
    epollWait: c.func('int epoll_wait(int, void *, int, int)'),
    addressOf: (memory) => Number(koffi.address(memory)),
    errno: koffi.errno,
    eventLoopFd: c.func('int uv_backend_fd(void *)')(loop[0]),
  };
}

/**
 * Returns a call's result unless it is negative.
 *
 * @throws {Error} with the system's `code`.
 */
export function checked(libc: Libc, name: string, result: number): number {
  if (result >= 0) return result;
  const code = getSystemErrorName(-libc.errno());
  throw Object.assign(new Error(`${name} ${code}`), { code });
}
