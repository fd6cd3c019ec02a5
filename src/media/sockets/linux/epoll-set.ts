/** A set of descriptors that a thread waits for together. @see epoll(7) */
import { checked, type Libc, newMemory } from './libc.ts';

const CLOSE_ON_EXEC = 0o2000000;
const ADD = 1;
const REMOVE = 2;
const READABLE = 1;

/** Descriptors that one wait reports; further ones are reported by the next wait. */
const EVENTS_MAX = 64;

/**
 * One of `struct epoll_event`, in words of 32 bits. x64 alone packs it.
 *
 *     x64     events, mark, unused
 *     arm64   events, unused, mark, unused
 */
const LAYOUT = process.arch === 'x64' ? { words: 3, mark: 1 } : { words: 4, mark: 2 };

export class EpollSet {
  readonly fd: number;
  readonly #libc: Libc;
  readonly #event = newMemory(LAYOUT.words);
  readonly #events = newMemory(LAYOUT.words * EVENTS_MAX);

  constructor(libc: Libc) {
    this.#libc = libc;
    this.fd = checked(libc, 'epoll_create1', libc.epollCreate(CLOSE_ON_EXEC));
    libc.closeWithThread(this.fd, true);
  }

  /** @param mark what the descriptor is called by `markAt`, 31 bits. */
  add(fd: number, mark: number): void {
    this.#event[0] = READABLE;
    this.#event[LAYOUT.mark] = mark;
    checked(this.#libc, 'epoll_ctl', this.#libc.epollControl(this.fd, ADD, fd, this.#event));
  }

  remove(fd: number): void {
    this.#libc.epollControl(this.fd, REMOVE, fd, this.#event);
  }

  /**
   * Waits until something can be read, or the time is over.
   *
   * @param limitMs whole milliseconds; 0 only looks.
   * @returns how many are ready; their marks are at 0 and so on until the next wait.
   */
  wait(limitMs: number): number {
    // A signal may interrupt it, which is as good as nothing ready.
    return Math.max(0, this.#libc.epollWait(this.fd, this.#events, EVENTS_MAX, limitMs));
  }

  markAt(index: number): number {
    return this.#events[index * LAYOUT.words + LAYOUT.mark] ?? 0;
  }

  close(): void {
    this.#libc.closeWithThread(this.fd, false);
    this.#libc.close(this.fd);
  }
}
