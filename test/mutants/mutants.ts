/**
 * Plants small faults in the source, one at a time, and counts those that the unit tests notice: `npm run mutants`.
 *
 *     npm run mutants -- [PLANE...] [--count 40] [--seed 1] [--workers 2] [--at-least 0.9]
 *
 * Draws `--count` mutants a plane by `--seed`, prints each one that survives or runs into the time limit (which counts
 * as killed), then a table of the planes, and exits 1 where a plane is below `--at-least`. Tests are the 60 unit test
 * files nearest to the fault by imports, so the true figure is no lower.
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

/** What became of the mutants of one plane. */
interface PlaneResult {
  readonly plane: string;
  readonly killed: number;
  readonly of: number;
}

/** Tries the mutants of one plane, several at a time. */
async function tryPlane(
  plane: string,
  importers: Importers,
  trials: readonly MutantTrial[],
): Promise<PlaneResult> {
  const waiting = mutantsOf(plane, importers);
  const [first] = trials;
  if (first !== undefined) await checkTests(waiting, first);
  const fates: Fate[] = [];
  await Promise.all(
    trials.map(async (trial) => {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const fate = await trial.fateOf(mutant);
        fates.push(fate);
        if (fate !== 'killed') {
          const { line, kind } = mutant.mutation;
          console.log(`  ${fate.padEnd(9)}  ${mutant.file}:${line}  ${kind}`);
        }
      }
    }),
  );
  const killed = fates.filter((fate) => fate !== 'survived').length;
  return { plane, killed, of: fates.length };
}

function percentOf({ killed, of }: PlaneResult): number {
  return of === 0 ? 100 : (100 * killed) / of;
}

function tableOf(results: readonly PlaneResult[]): string {
  const rows = results.map((result) => [
    result.plane,
    String(result.killed),
    String(result.of),
    percentOf(result).toFixed(1),
  ]);
  return [['plane', 'killed', 'of', 'percent'], ...rows]
    .map(([plane = '', ...figures]) =>
      [plane.padEnd(14), ...figures.map((figure) => figure.padStart(8))].join(''),
    )
    .join('\n');
}

const importers = readImporters(ROOT);
const trials = Array.from({ length: Number(values.workers) }, () => new MutantTrial(ROOT));
try {
  const results: PlaneResult[] = [];
  for (const plane of positionals.length > 0 ? positionals : PLANES) {
    results.push(await tryPlane(plane, importers, trials));
  }
  console.log(tableOf(results));
  const leastPercent = 100 * Number(values['at-least']);
  process.exitCode = results.every((result) => percentOf(result) >= leastPercent) ? 0 : 1;
} finally {
  for (const trial of trials) trial.stop();
}
