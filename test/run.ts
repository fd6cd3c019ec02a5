/** Runs every check of the project, or those that are named, and ends with one line that sums them up: `npm run test:all`. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { failedFilesIn, failuresIn } from './failures-in.ts';
import {
  type Outcome,
  runStages,
  type Sink,
  type Stage,
  stagesOf,
  summaryOf,
} from './run-steps.ts';

const BIN = join(import.meta.dirname, '../node_modules/.bin');

/** Steps that only compute yield the processor to the real-time calls of other steps. */
const YIELDING = ['nice', '-n', '5'];

/** What takes only what the others leave. */
const LAST = ['nice', '-n', '19'];

/** Runs a program with its output shown, or given to the sink; resolves with its exit status. */
function run(words: readonly string[], sink: Sink | null): Promise<number> {
  const [program = '', ...args] = words;
  return new Promise((resolve, reject) => {
    const output = sink === null ? 'inherit' : 'pipe';
    const child = spawn(program, args, {
      stdio: ['inherit', output, output],
      env: process.stdout.isTTY ? { FORCE_COLOR: '1', ...env } : env,
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (piece: Buffer) => sink?.(piece));
    }
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** A check that passes or fails as a whole. */
function check(program: string, args: readonly string[]): (sink: Sink | null) => Promise<Outcome> {
  return async (sink) => {
    const isGood = (await run([...YIELDING, join(BIN, program), ...args], sink)) === 0;
    return { passed: isGood ? 1 : 0, failed: isGood ? 0 : 1, skipped: 0 };
  };
}

/** More failed files than this have another reason than a busy machine. */
const SECOND_TRY_FILES_MAX = 3;

/** One vitest project, or some of its files; its numbers come from vitest's own report. */
function suite(
  project: string,
  before: readonly string[] = [],
  files: readonly string[] = [],
): (sink: Sink | null) => Promise<Outcome> {
  return async (sink) => {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-test-'));
    const report = join(folder, 'report.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const words = [
      ...before,
      join(BIN, 'vitest'),
      'run',
      ...files,
      '--project',
      project,
      ...reporters,
    ];
    try {
      const status = await run(words, sink);
      const result = JSON.parse(readFileSync(report, 'utf8'));
      const { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped } = result;
      // A file that does not load fails without a test of its own.
      const counted = status === 0 ? failed : Math.max(1, failed);
      const outcome = { passed, failed: counted, skipped, failures: failuresIn(result) };
      const bad = failedFilesIn(result);
      const isFew = bad.length > 0 && bad.length <= SECOND_TRY_FILES_MAX && files.length === 0;
      return isFew ? { ...outcome, again: suite(project, [], bad) } : outcome;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

/**
 * First whole servers, and checks, unit and integration tests on the rest of the processor. Then conversations in real time,
 * which need half of it, with builds and crashes that take the other half. Last what needs the machine to itself.
 */
const STAGES: readonly Stage[] = [
  [
    [
      { name: 'format and lint', run: check('biome', ['ci', '--error-on-warnings', '.']) },
      // The first two write those of the API: for the dashboard, and for the client libraries.
      { name: 'types', run: check('node', ['test/api-types.ts']) },
      { name: 'types', run: check('node', ['clients/generator/main.ts']) },
      { name: 'types', run: check('tsc', ['--noEmit']) },
      { name: 'types', run: check('tsc', ['--noEmit', '-p', 'src/dashboard']) },
      { name: 'types', run: check('tsc', ['--noEmit', '-p', 'docs/tools/site']) },
      { name: 'dead code', run: check('knip', ['--production', '--include', 'files,exports']) },
      { name: 'unit', run: suite('unit', YIELDING) },
      { name: 'integration', run: suite('integration') },
    ],
    [{ name: 'parallel', run: suite('parallel') }],
  ],
  [
    [{ name: 'end to end', run: suite('e2e') }],
    [{ name: 'real servers', run: suite('real') }],
    [{ name: 'builds and crashes', run: suite('yielding', LAST) }],
  ],
  [
    [
      { name: 'measured', run: suite('measured') },
      { name: 'real servers under load', run: suite('real-load') },
    ],
  ],
];

const total = await runStages(stagesOf(STAGES, process.argv.slice(2)), (piece) => {
  process.stdout.write(piece);
});
process.stdout.write(`\n${summaryOf(total)}\n`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
