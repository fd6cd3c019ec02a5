/** The system calls of a media thread, taken from the C library by koffi: a call costs 0.25 µs over one from C. */
import { getSystemErrorName } from 'node:util';

/** Memory that a call reads or fills, never longer than the size that goes with it. */
type Memory = Uint8Array<ArrayBuffer> | Int32Array<ArrayBuffer>;

/** Memory for calls, zeros. A small array might else lie among V8's objects, which are moved. */
export function newMemory(words: number): Int32Array<ArrayBuffer> {
  return new Int32Array(new ArrayBuffer(words * Int32Array.BYTES_PER_ELEMENT));
}

/** Places in memory are given as numbers, by `addressOf`, where a view would cost half of what the call does. */
type PacketCall = [
  fd: number,
  datagramAt: number,
  datagramBytes: number,
  flags: number,
  addressAt: number,
  /** In `recvfrom` the place of the number. */
  addressBytes: number,
];

/** The functions by their names in C; all return -1 for an error. Every call is synchronous: no memory moves under it. */
export interface Libc {
  readonly socket: (domain: number, type: number, protocol: number) => number;
  readonly bind: (fd: number, address: Memory, addressBytes: number) => number;
  readonly close: (fd: number) => number;
  readonly sendto: (...args: PacketCall) => number;
  readonly recvfrom: (...args: PacketCall) => number;
  readonly epollCreate: (flags: number) => number;
  readonly epollControl: (epoll: number, operation: number, fd: number, event: Memory) => number;
  readonly epollWait: (epoll: number, events: Memory, count: number, limitMs: number) => number;
  readonly timerCreate: (clock: number, flags: number) => number;
  readonly timerSet: (fd: number, flags: number, time: Memory, before: null) => number;
  /** Where memory is. It stays there for as long as somebody holds it. */
  readonly addressOf: (memory: Memory) => number;
  /** Of the call just before. */
  readonly errno: () => number;
  /** Readable when this thread's event loop has something to do. */
  readonly eventLoopFd: number;
  /** Has a descriptor closed when the thread ends, however it ends; or no longer. */
  readonly closeWithThread: (fd: number, isWanted: boolean) => void;
}

/** Where the layouts of C structures are those that this folder writes: 64 bits, little-endian. */
const PROCESSORS: readonly string[] = ['x64', 'arm64'];

/**
 * Finds the functions, for the calling thread alone.
 *
 * @throws {Error} when this is no Linux that they are known of, or koffi does not load.
 */
export async function loadLibc(): Promise<Libc> {
  if (process.platform !== 'linux' || !PROCESSORS.includes(process.arch)) {
    throw new Error(`no system calls are known for ${process.platform} on ${process.arch}`);
  }
  const { default: koffi } = await import('koffi');
  const c = koffi.load(null);
  return {
    socket: c.func('int socket(int, int, int)'),
    bind: c.func('int bind(int, void *, int)'),
    close: c.func('int close(int)'),
    sendto: c.func('long sendto(int, uintptr_t, size_t, int, uintptr_t, int)'),
    recvfrom: c.func('long recvfrom(int, uintptr_t, size_t, int, uintptr_t, uintptr_t)'),
    epollCreate: c.func('int epoll_create1(int)'),
    epollControl: c.func('int epoll_ctl(int, int, int, void *)'),
    epollWait: c.func('int epoll_wait(int, void *, int, int)'),
    timerCreate: c.func('int timerfd_create(int, int)'),
    timerSet: c.func('int timerfd_settime(int, int, void *, void *)'),
    addressOf: (memory) => Number(koffi.address(memory)),
    errno: () => koffi.errno(),
    ...ofThisThread(koffi, c),
  };
}

type Koffi = typeof import('koffi').default;

/** What Node-API and libuv, which are part of Node's program, know of the thread. */
function ofThisThread(
  koffi: Koffi,
  c: ReturnType<Koffi['load']>,
): Pick<Libc, 'eventLoopFd' | 'closeWithThread'> {
  const { env } = koffi.node;
  const loop: [unknown] = [null];
  const findLoop = c.func('int napi_get_uv_event_loop(void *, _Out_ void **)');
  if (findLoop(env, loop) !== 0) throw new Error('the event loop of the thread is not found');
  // A hook is called with one argument, which is all that `close` takes.
  const close: unknown = c.symbol('close');
  const addHook = c.func('int napi_add_env_cleanup_hook(void *, void *, intptr_t)');
  const removeHook = c.func('int napi_remove_env_cleanup_hook(void *, void *, intptr_t)');
  return {
    eventLoopFd: c.func('int uv_backend_fd(void *)')(loop[0]),
    closeWithThread: (fd, isWanted) => {
      const hook = isWanted ? addHook : removeHook;
      hook(env, close, fd);
    },
  };
}

/**
 * Checks what a call returned.
 *
 * @throws {Error} with the system's `code` when it is negative.
 */
export function checked(libc: Libc, name: string, result: number): number {
  if (result >= 0) return result;
  const code = getSystemErrorName(-libc.errno());
  throw Object.assign(new Error(`${name} ${code}`), { code });
}
