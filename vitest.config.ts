import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { COMPILE_CACHE } from './test/support/compile-cache.ts';

/** Whole servers and processes that mostly wait, and measure no time: they run beside each other, longest first. */
const PATIENT = [
  'test/e2e/nat.test.ts',
  'test/e2e/outbound.test.ts',
  'test/integration/webhook-crash.test.ts',
  'test/e2e/demo.test.ts',
  'test/e2e/image.test.ts',
  'test/e2e/dashboard.test.ts',
  'test/e2e/analysis.test.ts',
  'test/e2e/air-gap.test.ts',
  'test/e2e/hostile.test.ts',
  'test/e2e/faults.test.ts',
  'test/e2e/erasure.test.ts',
  'test/e2e/admin.test.ts',
  'test/e2e/admin-usage.test.ts',
  'test/e2e/tracing.test.ts',
  'test/e2e/dashboard-lists.test.ts',
  'test/e2e/browser-transfer.test.ts',
  'test/integration/store-crash.test.ts',
  'test/e2e/dashboard-agents.test.ts',
  'test/e2e/dashboard-environments.test.ts',
  'test/e2e/browser-phone.test.ts',
  'test/e2e/disk.test.ts',
  'test/e2e/log-output.test.ts',
  'test/e2e/documented.test.ts',
  'test/e2e/start.test.ts',
  'test/e2e/telephony-setting.test.ts',
  'test/e2e/hung-drachtio.test.ts',
  'test/e2e/crash-ringing.test.ts',
  'test/e2e/trunk-down.test.ts',
  'test/e2e/transfer.test.ts',
  'test/e2e/operator.test.ts',
  'test/e2e/routing.test.ts',
];

/** What measures times or sound, or loads a server as far as it goes: nothing runs beside it. */
const MEASURED = [
  'test/e2e/browser-call.test.ts',
  'test/e2e/crash.test.ts',
  'test/e2e/dashboard-load.test.ts',
  'test/e2e/evenness.test.ts',
  'test/e2e/live-sound.test.ts',
  'test/e2e/overload.test.ts',
  'test/e2e/sipp.test.ts',
  'test/e2e/word-error-rate.test.ts',
];

/** Of the others, those that take longest. */
const LONG = ['test/e2e/sandbox.test.ts', 'test/e2e/baresip.test.ts'];

/** Starts what takes longest first, so that none of it is left at the end with the machine to itself. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const known = [...LONG, ...PATIENT];
    const rank = ({ moduleId }: TestSpecification) => {
      const at = known.findIndex((path) => moduleId.endsWith(path));
      return at < 0 ? known.length : at;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

// ONNX Runtime on Linux reports its use to its maker unless told not to before it is loaded.
// biome-ignore lint/style/noProcessEnv: it is the runtime that reads it, not we
process.env.ORT_DISABLE_TELEMETRY = '1';

// Tests start hundreds of processes that compile the same modules.
// biome-ignore lint/style/noProcessEnv: the processes inherit it
process.env.NODE_COMPILE_CACHE = COMPILE_CACHE;

/** Suites by what they need: nothing, a real engine or process in between, or the whole server; run together, in `groupOrder`. */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          include: ['test/**/*.test.ts'],
          exclude: ['test/integration/**', 'test/e2e/**', 'test/real/**'],
          testTimeout: 30_000,
          // No test here changes what another one imports: a module is loaded once, not once a file.
          isolate: false,
          // Vitest would take one less than there are cores; what measures time here measures processor time, or has room.
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'integration',
          sequence: { groupOrder: 1 },
          include: ['test/integration/**/*.test.ts'],
          exclude: PATIENT,
          testTimeout: 120_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'patient',
          sequence: { groupOrder: 2 },
          include: PATIENT,
          testTimeout: 300_000,
          hookTimeout: 120_000,
          maxWorkers: 4,
        },
      },
      {
        test: {
          name: 'real',
          sequence: { groupOrder: 5 },
          include: ['test/real/**/*.test.ts'],
          testTimeout: 90_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'e2e',
          sequence: { groupOrder: 3 },
          include: ['test/e2e/**/*.test.ts'],
          exclude: [...PATIENT, ...MEASURED],
          testTimeout: 240_000,
          hookTimeout: 120_000,
          // They speak and listen in real time: two of them leave each other room.
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'measured',
          sequence: { groupOrder: 4 },
          include: MEASURED,
          testTimeout: 240_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
