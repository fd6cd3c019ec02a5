/**
 * Plants small faults in the source, one at a time, and counts those that the unit tests notice: `npm run mutants`.
 *
 *     npm run mutants -- [PLANE...] [--count 40] [--seed 1] [--workers 2] [--at-least 0.9]
 *
 * Draws `--count` mutants a plane by `--seed`, prints each one that survives and a line per plane, and exits 1 where a plane
 * is below `--at-least`. Tests are the 60 unit test files nearest to the fault by imports, so the true figure is no lower.
 */
import { globSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Fate, type Mutant, MutantTrial } from './mutant-trial.ts';
import { mutationsOf } from './mutations.ts';
import { type Importers, nearestTests, readImporters } from './nearest-tests.ts';
import { drawn, seededRandom } from './sample.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The planes whose decisions a caller or a customer would notice. */
const PLANES = ['sip', 'conversation', 'call', 'webhook', 'api'];

/** As many test files are run for a mutant at most. */
const TESTS_MAX = 60;

/** Time limit for the tests of a whole plane without a fault, in milliseconds. */
const CHECK_MS_MAX = 600_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: String(Math.min(4, cpus().length)) },
    'at-least': { type: 'string', default: '0.9' },
  },
});

/** The mutants of a plane that are tried in this run. */
function mutantsOf(plane: string, importers: Importers): Mutant[] {
  const files = globSync(`src/${plane}/**/*.ts`, { cwd: ROOT }).sort();
  if (files.length === 0) throw new Error(`Cannot try "${plane}": src/${plane} has no files`);
  const all = files.flatMap((file) =>
    mutationsOf(file, readFileSync(join(ROOT, file), 'utf8')).map((mutation) => ({
      file,
      mutation,
    })),
  );
  return drawn(all, Number(values.count), seededRandom(Number(values.seed))).map((one) => ({
    ...one,
    tests: nearestTests(importers, one.file, TESTS_MAX),
  }));
}

/** @throws {Error} when a test fails without any fault: then no kill would mean anything. */
async function checkTests(mutants: readonly Mutant[], trial: MutantTrial): Promise<void> {
  const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))].sort();
  const fate = await trial.run(tests, CHECK_MS_MAX);
  if (fate !== 'survived') {
    throw new Error(`Cannot try mutants: of ${tests.length} test files one fails without a fault`);
  }
}

/** Tries the mutants of one plane, several at a time; resolves with the share that was killed. */
async function tryPlane(plane: string, importers: Importers, trials: readonly MutantTrial[]) {
  const waiting = mutantsOf(plane, importers);
  const [first] = trials;
  if (first !== undefined) await checkTests(waiting, first);
  const fates: Fate[] = [];
  await Promise.all(
    trials.map(async (trial) => {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const fate = await trial.fateOf(mutant);
        fates.push(fate);
        if (fate === 'survived') {
          console.log(
            `  survived  ${mutant.file}:${mutant.mutation.line}  ${mutant.mutation.kind}`,
          );
        }
      }
    }),
  );
  const killed = fates.filter((fate) => fate !== 'survived').length;
  const timedOut = fates.filter((fate) => fate === 'timed out').length;
  const share = fates.length === 0 ? 1 : killed / fates.length;
  const percent = (100 * share).toFixed(1);
  console.log(
    `${plane}: ${killed} of ${fates.length} killed (${percent} %), ${timedOut} by the time limit`,
  );
  return share;
}

const importers = readImporters(ROOT);
const trials = Array.from({ length: Number(values.workers) }, () => new MutantTrial(ROOT));
try {
  let isEnough = true;
  for (const plane of positionals.length > 0 ? positionals : PLANES) {
    isEnough = (await tryPlane(plane, importers, trials)) >= Number(values['at-least']) && isEnough;
  }
  process.exitCode = isEnough ? 0 : 1;
} finally {
  for (const trial of trials) trial.stop();
}
