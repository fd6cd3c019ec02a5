/** What a machine gives to recognisers. */
import { expect, test } from 'vitest';
import { machineShare } from '../../src/speech/hearing/choose-hearing.ts';

const GIB = 2 ** 30;

test.each([
  { cores: 1, memory: 4, processes: 1, threads: 1 },
  { cores: 2, memory: 8, processes: 2, threads: 1 },
  { cores: 8, memory: 32, processes: 8, threads: 1 },
  { cores: 32, memory: 64, processes: 8, threads: 4 },
  { cores: 8, memory: 2, processes: 2, threads: 4 },
  { cores: 4, memory: 0.5, processes: 1, threads: 4 },
])('machineShare gives $cores cores and $memory GiB $processes processes of $threads threads', ({
  cores,
  memory,
  ...share
}) => {
  expect(machineShare({ cores, memoryBytes: memory * GIB })).toEqual({
    processes: share.processes,
    threads: share.threads,
  });
});
