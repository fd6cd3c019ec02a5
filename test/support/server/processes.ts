/** Looks at the processes that a test has started. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

export interface ChildOf {
  readonly pid: number;
  /** `Z` is a zombie. */
  readonly state: string;
  readonly commandLine: string;
}

/** The living and dead children of a process, at this moment. */
export function childrenOf(pid: number): ChildOf[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // The second field is the program's name in brackets, and may hold spaces.
      const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const commandLine = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return Number(parent) === pid ? [{ pid: Number(name), state, commandLine }] : [];
    } catch {
      // It ended between the two looks.
      return [];
    }
  });
}
