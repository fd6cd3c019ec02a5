/** What every benchmark shares: paired runs, CPU time of processes, percentiles, and how results are printed. */
import { readdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';

/** How busy the machine was during a run. */
export interface MachineState {
  readonly load: number;
  /** Share of CPU time that the host took away, 0 to 100. */
  readonly stealPercent: number;
}

export interface Pair<T> {
  readonly a: T;
  readonly b: T;
  readonly machine: MachineState;
  /** The machine was not the same for both: load differed by more than twice, or the host took 10 % away. */
  readonly isVoid: boolean;
}

const STEAL_PERCENT_MAX = 10;
/** Below this, load says nothing about a run. */
const LOAD_MIN = 2;

/** Runs A, B, A, B, …, so that both see the same machine. */
export async function pairedRuns<T>(options: {
  readonly pairs: number;
  readonly a: () => Promise<T>;
  readonly b: () => Promise<T>;
}): Promise<readonly Pair<T>[]> {
  const pairs: Pair<T>[] = [];
  for (let index = 0; index < options.pairs; index += 1) {
    const a = await observe(options.a);
    const b = await observe(options.b);
    const stealPercent = Math.max(a.machine.stealPercent, b.machine.stealPercent);
    const loads = [a.machine.load, b.machine.load].map((load) => Math.max(load, LOAD_MIN));
    const isVoid = Math.max(...loads) > 2 * Math.min(...loads) || stealPercent > STEAL_PERCENT_MAX;
    const machine = { load: Math.max(a.machine.load, b.machine.load), stealPercent };
    pairs.push({ a: a.result, b: b.result, machine, isVoid });
  }
  return pairs;
}

/** Runs something and tells how busy the machine was meanwhile. */
export async function observe<T>(
  run: () => Promise<T>,
): Promise<{ result: T; machine: MachineState }> {
  const before = cpuTimes();
  const result = await run();
  const after = cpuTimes();
  const total = after.total - before.total;
  const stealPercent = total === 0 ? 0 : ((after.steal - before.steal) * 100) / total;
  return { result, machine: { load: loadavg()[0] ?? 0, stealPercent } };
}

function cpuTimes(): { total: number; steal: number } {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
    const times = line.trim().split(/\s+/).slice(1).map(Number);
    return { total: times.reduce((sum, time) => sum + time, 0), steal: times[7] ?? 0 };
  } catch {
    // Not Linux: nothing is known about steal.
    return { total: 0, steal: 0 };
  }
}

export interface RatioSummary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** Pairs that counted. */
  readonly pairs: number;
}

/** Median, least and greatest of `a` over `b`, void pairs left out. */
export function ratios<T>(pairs: readonly Pair<T>[], pick: (result: T) => number): RatioSummary {
  const values = pairs.filter(({ isVoid }) => !isVoid).map(({ a, b }) => pick(a) / pick(b));
  return {
    median: percentile(values, 50),
    min: Math.min(...values),
    max: Math.max(...values),
    pairs: values.length,
  };
}

/** The middle run of one side, by whatever is picked of it. */
export function middleOf<T>(
  pairs: readonly Pair<T>[],
  side: 'a' | 'b',
  pick: (result: T) => number,
): number {
  return percentile(
    pairs.map((pair) => pick(pair[side])),
    50,
  );
}

/** Nearest-rank percentile; `p` from 0 to 100. NaN when there are no values. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const rank = Math.max(1, Math.ceil((p / 100) * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

/** CPU seconds that a process's living threads have used so far, to the nanosecond where Linux tells. */
export function cpuSecondsOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map(Number);
  return threads.reduce((sum, thread) => sum + cpuSecondsOfThread(pid, thread), 0);
}

/** CPU seconds of one thread of a process. */
export function cpuSecondsOfThread(pid: number, thread: number): number {
  const [ns = ''] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
  return Number(ns) / 1e9;
}

export type Row = Readonly<Record<string, string | number>>;

/** A Markdown table; the first row's keys are the columns. */
export function markdownTable(rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const lines = [columns, columns.map(() => '---')];
  for (const row of rows) lines.push(columns.map((column) => cell(row[column])));
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cell(value: string | number | undefined): string {
  return typeof value === 'number' ? String(Number(value.toPrecision(4))) : (value ?? '');
}

/** A figure that a benchmark promises. */
export interface Target {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  /** By how much the limit may be missed before `--gate` fails, such as 0.1 for a tenth. */
  readonly tolerance: number;
}

/** Prints each target; with `--gate` one that is missed beyond its tolerance, or has no figure, makes the process exit with 1. */
export function checkTargets(args: readonly string[], targets: readonly Target[]): void {
  for (const target of targets) {
    console.log(targetLine(target));
    if (!isTolerated(target) && args.includes('--gate')) process.exitCode = 1;
  }
}

/** `ok` only where the limit itself is kept; a figure between limit and tolerance is missed, and the line says both. */
export function targetLine(target: Target): string {
  const { name, value, limit, tolerance } = target;
  const percent = cell(100 * tolerance);
  const bound = `target <= ${limit}${tolerance === 0 ? ', no tolerance' : `, tolerance ${percent} %`}`;
  if (value <= limit) return `ok     ${name}: ${cell(value)} (${bound})`;
  const verdict = isTolerated(target)
    ? `; missed within ${percent} %, so the gate lets it pass`
    : '';
  return `MISSED ${name}: ${cell(value)} (${bound}${verdict})`;
}

function isTolerated({ value, limit, tolerance }: Target): boolean {
  return value <= limit * (1 + tolerance);
}

/** Prints one result as a JSON line. */
export function printJson(result: object): void {
  console.log(JSON.stringify(result));
}

/** The number behind `--name`, else `fallback`. */
export function numberArg(args: readonly string[], name: string, fallback: number): number {
  const index = args.indexOf(`--${name}`);
  const value = index < 0 ? Number.NaN : Number(args[index + 1]);
  return Number.isFinite(value) ? value : fallback;
}

/** Reads `--name TEXT`; undefined when it is not there. */
export function textArg(args: readonly string[], name: string): string | undefined {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? undefined : args[at + 1];
}
