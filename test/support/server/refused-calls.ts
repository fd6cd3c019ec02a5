/** Has the kernel refuse system calls to this process, as a container's seccomp profile does. Linux on x64. @see seccomp(2) */
import koffi from 'koffi';

/** Numbers of calls that the media thread makes. @see syscalls(2) */
export const CALLS = {
  bind: 49,
  epoll_ctl: 233,
  epoll_wait: 232,
  recvfrom: 45,
  sendto: 44,
} as const;

export type RefusableCall = keyof typeof CALLS;

const NO_NEW_PRIVILEGES = 38;
const SECCOMP = 317;
const SET_FILTER = 1;
const ALL_THREADS = 1;

const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const RETURN = 0x06;

const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const X86_64 = 0xc000_003e;
const ALLOW = 0x7fff_0000;
const FAIL_WITH_EPERM = 0x0005_0001;

/**
 * Refuses them with EPERM to all threads, those that are still to be started included. Cannot be undone.
 *
 * @throws {Error} when the kernel takes no filter.
 */
export function refuseCalls(names: readonly RefusableCall[]): void {
  const c = koffi.load(null);
  const filter = filterOf(names.map((name) => CALLS[name]));
  const program = Buffer.alloc(16);
  program.writeUInt16LE(filter.length / 8, 0);
  program.writeBigUInt64LE(BigInt(koffi.address(filter)), 8);
  c.func('int prctl(int, long, long, long, long)')(NO_NEW_PRIVILEGES, 1, 0, 0, 0);
  const seccomp = c.func('syscall', 'long', ['long', 'long', 'long', 'void *']);
  if (seccomp(SECCOMP, SET_FILTER, ALL_THREADS, program) !== 0) {
    throw new Error(`Cannot refuse ${names.join(', ')}: the kernel takes no filter`);
  }
}

/** A program of `struct sock_filter`: code (16 bits), jump if true, jump if false (8 bits each), operand (32 bits). */
function filterOf(numbers: readonly number[]): Buffer<ArrayBuffer> {
  const checks = numbers.flatMap((number) => [
    [JUMP_IF_EQUAL, 0, 1, number],
    [RETURN, 0, 0, FAIL_WITH_EPERM],
  ]);
  const instructions = [
    [LOAD_WORD, 0, 0, ARCHITECTURE_AT],
    [JUMP_IF_EQUAL, 1, 0, X86_64],
    [RETURN, 0, 0, ALLOW],
    [LOAD_WORD, 0, 0, NUMBER_AT],
    ...checks,
    [RETURN, 0, 0, ALLOW],
  ];
  const filter = Buffer.from(new ArrayBuffer(instructions.length * 8));
  instructions.forEach(([code = 0, ifTrue = 0, ifFalse = 0, operand = 0], index) => {
    filter.writeUInt16LE(code, index * 8);
    filter.writeUInt8(ifTrue, index * 8 + 2);
    filter.writeUInt8(ifFalse, index * 8 + 3);
    filter.writeUInt32LE(operand, index * 8 + 4);
  });
  return filter;
}
