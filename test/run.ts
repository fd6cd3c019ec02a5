/** Runs every check of the project, one after the other, and ends with one line that sums them up. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface Step {
  readonly name: string;
  readonly run: () => Promise<Outcome>;
}

const BIN = join(import.meta.dirname, '../node_modules/.bin');

/** Runs a program with its output shown; resolves with its exit status. */
function run(program: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(BIN, program), args, { stdio: 'inherit' });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

/** A check that passes or fails as a whole. */
function check(program: string, args: readonly string[]): () => Promise<Outcome> {
  return async () => {
    const isGood = (await run(program, args)) === 0;
    return { passed: isGood ? 1 : 0, failed: isGood ? 0 : 1, skipped: 0 };
  };
}

/** One vitest project; its numbers come from vitest's own report. */
function suite(project: string): () => Promise<Outcome> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-test-'));
    const report = join(folder, 'report.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const status = await run('vitest', ['run', '--project', project, ...reporters]);
    try {
      const result = JSON.parse(readFileSync(report, 'utf8'));
      const { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped } = result;
      // A file that does not load fails without a test of its own.
      return { passed, failed: status === 0 ? failed : Math.max(1, failed), skipped };
    } catch (error) {
      process.stderr.write(`No report of "${project}": ${error}\n`);
      return { passed: 0, failed: 1, skipped: 0 };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

const STEPS: readonly Step[] = [
  { name: 'format and lint', run: check('biome', ['ci', '--error-on-warnings', '.']) },
  { name: 'types', run: check('tsc', ['--noEmit']) },
  { name: 'types of the dashboard', run: check('tsc', ['--noEmit', '-p', 'src/dashboard']) },
  { name: 'unit', run: suite('unit') },
  { name: 'integration', run: suite('integration') },
  { name: 'patient', run: suite('patient') },
  { name: 'end to end', run: suite('e2e') },
  { name: 'real servers', run: suite('real') },
];

const asked = process.argv.slice(2);
const steps = STEPS.filter(({ name }) => asked.length === 0 || asked.includes(name));
const total = { passed: 0, failed: 0, skipped: 0 };
for (const step of steps) {
  const startedMs = performance.now();
  process.stdout.write(`\n== ${step.name}\n`);
  const { passed, failed, skipped } = await step.run();
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  process.stdout.write(`== ${step.name}: ${failed === 0 ? 'ok' : 'FAILED'} in ${seconds} s\n`);
}
const skippedText = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed${skippedText}\n`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
