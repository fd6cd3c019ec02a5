/** The C library's socket and epoll calls, by koffi. */
import { getSystemErrorName } from 'node:util';

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
