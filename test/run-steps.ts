/**
 * Runs checks in lanes: what stands in one lane runs one after the other, and the lanes of a stage run side by side. The few
 * tests that fail while others run are run once more alone at the end, and those that pass then are named.
 */

/** What came of a step: how many tests, or 1 for a check that passes or fails as a whole. */
export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What failed and why, each in a few lines; a check that fails as a whole has nothing to add. */
  readonly failures?: readonly string[];
  /** Runs once more, alone, what failed; absent where too much failed for the machine's load to be the reason. */
  readonly again?: (sink: Sink | null) => Promise<Outcome>;
}

/** Takes what a step prints, piece by piece. */
export type Sink = (piece: Uint8Array | string) => void;

export interface Step {
  readonly name: string;
  /** @param sink Where its output goes; null when it may have the terminal to itself. */
  readonly run: (sink: Sink | null) => Promise<Outcome>;
}

/** As many failures are told of again at the end, where a reader of a long output looks first. */
const MOST_TOLD = 10;

/** Steps in the order in which they run. */
export type Lane = readonly Step[];

/** Lanes that run side by side; the next stage begins when all of them are done. */
export type Stage = readonly Lane[];

/** Leaves the steps that were asked for; all of them when none was. */
export function stagesOf(stages: readonly Stage[], asked: readonly string[]): readonly Stage[] {
  const isAsked = ({ name }: Step) => asked.length === 0 || asked.includes(name);
  const lanes = (stage: Stage) => stage.map((lane) => lane.filter(isAsked));
  return stages
    .map((stage) => lanes(stage).filter((lane) => lane.length > 0))
    .filter((stage) => stage.length > 0);
}

/**
 * Runs stage after stage to the end, whatever fails. The output of concurrent steps is shown
 * when each ends, so that no two are mixed up.
 */
export async function runStages(stages: readonly Stage[], write: Sink): Promise<Outcome> {
  const failed: [Step, Outcome][] = [];
  let total: Outcome = { passed: 0, failed: 0, skipped: 0 };
  const runLane = async (lane: Lane, isAlone: boolean) => {
    for (const step of lane) {
      const outcome = isAlone ? await runInTheOpen(step, write) : await runCovered(step, write);
      if (outcome.failed > 0) failed.push([step, outcome]);
      else total = sum(total, outcome);
    }
  };
  for (const stage of stages) {
    await Promise.all(stage.map((lane) => runLane(lane, stage.length === 1)));
  }
  const bad: string[][] = [];
  for (const [step, first] of failed) {
    const outcome = await secondTry(step, first, write);
    total = sum(total, outcome);
    if (outcome.failed > 0) bad.push([step.name, ...(outcome.failures ?? [])]);
    else
      write(
        failureList('FAILED UNDER LOAD, PASSED ALONE', [[step.name, ...(first.failures ?? [])]]),
      );
  }
  if (bad.length > 0) write(failureList('FAILED', bad));
  return total;
}

/** Runs the failed tests of a concurrent step once more, alone. */
async function secondTry({ name }: Step, first: Outcome, write: Sink): Promise<Outcome> {
  if (first.again === undefined) return first;
  const second = await runInTheOpen({ name: `${name}, a second try`, run: first.again }, write);
  const failed = Math.min(first.failed, second.failed);
  const passed = first.passed + first.failed - failed;
  return { ...second, passed, failed, skipped: first.skipped };
}

/** The steps that failed, then the first failures of all of them. */
function failureList(title: string, failed: readonly (readonly string[])[]): string {
  const names = failed.map(([name]) => name).join(', ');
  const failures = failed.flatMap(([, ...each]) => each);
  const told = failures.slice(0, MOST_TOLD).map((failure) => `\n${failure}\n`);
  const left = failures.length - told.length;
  return `\n${title}: ${names}\n${told.join('')}${left > 0 ? `\nand ${left} more\n` : ''}`;
}

/** The line that ends a run: `N passed, N failed`, and how many were skipped, if any. */
export function summaryOf({ passed, failed, skipped }: Outcome): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

async function runInTheOpen(step: Step, write: Sink): Promise<Outcome> {
  write(`\n== ${step.name}\n`);
  const [outcome, end] = await timed(step, null, write);
  write(end);
  return outcome;
}

async function runCovered(step: Step, write: Sink): Promise<Outcome> {
  write(`.. ${step.name} begins\n`);
  const pieces: (Uint8Array | string)[] = [`\n== ${step.name}\n`];
  const keep: Sink = (piece) => pieces.push(piece);
  const [outcome, end] = await timed(step, keep, keep);
  for (const piece of [...pieces, end]) write(piece);
  return outcome;
}

/** A step that cannot run has failed, and the others go on. */
async function timed(step: Step, sink: Sink | null, say: Sink): Promise<[Outcome, string]> {
  const startedMs = performance.now();
  const outcome = await step.run(sink).catch((error: unknown): Outcome => {
    say(`Cannot run "${step.name}": ${error}\n`);
    return { passed: 0, failed: 1, skipped: 0 };
  });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const how = outcome.failed === 0 ? 'ok' : 'FAILED';
  return [outcome, `== ${step.name}: ${how} in ${seconds} s\n`];
}

function sum(one: Outcome, other: Outcome): Outcome {
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
  };
}
