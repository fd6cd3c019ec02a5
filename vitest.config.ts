import { defineConfig } from 'vitest/config';
import { COMPILE_CACHE } from './test/support/server/compile-cache.ts';

// ONNX Runtime on Linux sends telemetry to its maker unless this is set before it loads.
// biome-ignore lint/style/noProcessEnv: the native runtime reads it
process.env.ORT_DISABLE_TELEMETRY = '1';

// Tests start hundreds of processes that compile the same modules.
// biome-ignore lint/style/noProcessEnv: the processes inherit it
process.env.NODE_COMPILE_CACHE = COMPILE_CACHE;

/** Takes the machine to itself. */
const REAL_LOAD = ['test/real/load.test.ts'];

/** One suite per folder, run one after the other in `groupOrder`. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          include: ['test/**/*.test.ts'],
          exclude: ['test/integration/**', 'test/e2e/**', 'test/real/**'],
          // Finds what hangs; beside the other suites a test has a tenth of a core at times.
          testTimeout: 120_000,
          // Each module is loaded once, not once per file: no test changes what another one imports.
          isolate: false,
          // Vitest's default leaves one core idle; timing tests here measure processor time.
          maxWorkers: 2,
        },
      },
      {
        // A real engine or child process.
        test: {
          name: 'integration',
          sequence: { groupOrder: 1 },
          include: ['test/integration/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
      {
        // Whole servers that mostly wait: several at once.
        test: {
          name: 'parallel',
          sequence: { groupOrder: 2 },
          include: ['test/e2e/parallel/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
          maxWorkers: 4,
        },
      },
      {
        // Whole servers that speak and listen in real time, each on a quarter of a core: three leave each other room.
        test: {
          name: 'e2e',
          sequence: { groupOrder: 3 },
          include: ['test/e2e/*.test.ts'],
          testTimeout: 240_000,
          hookTimeout: 120_000,
          maxWorkers: 3,
        },
      },
      {
        // Builds and crashes of a minute's work: one at a time, on what those that speak leave.
        test: {
          name: 'yielding',
          sequence: { groupOrder: 4 },
          include: ['test/e2e/yielding/*.test.ts'],
          testTimeout: 240_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        // Whole servers under load, or whose times are measured: one at a time.
        test: {
          name: 'measured',
          sequence: { groupOrder: 5 },
          include: ['test/e2e/measured/*.test.ts'],
          testTimeout: 240_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        // drachtio-server and FreeSWITCH, where DRACHTIO_* and FREESWITCH_* name them.
        test: {
          name: 'real',
          sequence: { groupOrder: 6 },
          include: ['test/real/**/*.test.ts'],
          exclude: REAL_LOAD,
          testTimeout: 90_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        // The same under load.
        test: {
          name: 'real-load',
          sequence: { groupOrder: 7 },
          include: REAL_LOAD,
        },
      },
    ],
  },
});
