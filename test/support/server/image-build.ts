/** Does the Dockerfile's steps in a folder, without Docker: what of the image can be shown on any machine. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { copyOf, type Stage, stagesOf, visibleFiles } from './dockerfile.ts';

const ROOT = join(import.meta.dirname, '../../..');
const DOCKERIGNORE = readFileSync(join(ROOT, '.dockerignore'), 'utf8');

/** This Node first. */
export const PATH = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(
  delimiter,
);

export interface Place {
  readonly cwd: string;
  /** Without it, this process's own. */
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
}

export interface Ended {
  readonly status: number;
  readonly output: string;
}

/** Runs a program to its end; a program that cannot be started ends with 1. */
export function run(words: readonly string[], place: Place): Promise<Ended> {
  const [program = '', ...args] = words;
  return new Promise((resolve) => {
    execFile(program, args, { ...place, timeout: 250_000 }, (error, stdout, stderr) => {
      const status = typeof error?.code === 'number' ? error.code : 1;
      resolve({ status: error === null ? 0 : status, output: stdout + stderr });
    });
  });
}

export interface BuiltImage {
  /** The image's `/app`. */
  readonly app: string;
  /** Steps that would change the whole system. */
  readonly leftOut: readonly string[];
  /** The last stage's. */
  argsOf(instruction: string): string;
}

const OF_THE_SYSTEM = /^(apt-get|groupadd)\b/;

/** Builds stage after stage, each in a sub-folder. @throws {Error} with what a step printed, when it fails. */
export async function buildImage(folder: string): Promise<BuiltImage> {
  const stages = stagesOf(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
  const leftOut: string[] = [];
  for (const stage of stages) leftOut.push(...(await buildStage(folder, stage)));
  const last = stages.at(-1)?.instructions ?? [];
  return {
    app: join(folder, 'app'),
    leftOut,
    argsOf: (instruction) => last.find(({ name }) => name === instruction)?.args ?? '',
  };
}

async function buildStage(folder: string, { name, instructions }: Stage): Promise<string[]> {
  const app = join(folder, name, 'app');
  mkdirSync(app, { recursive: true });
  const leftOut: string[] = [];
  for (const { name: step, args } of instructions) {
    if (step === 'COPY') copy(args, folder, app);
    if (step !== 'RUN') continue;
    if (OF_THE_SYSTEM.test(args)) leftOut.push(args);
    else await runStep(args, app);
  }
  return leftOut;
}

/** With this process's environment: it may say how the registry is reached. */
async function runStep(args: string, cwd: string): Promise<void> {
  // What the checkout's own `npm ci` has fetched is not fetched again.
  const settings = ['npm_config_prefer_offline=true', 'npm_config_fetch_retries=1'];
  const { status, output } = await run(['env', `PATH=${PATH}`, ...settings, 'sh', '-c', args], {
    cwd,
  });
  if (status !== 0) throw new Error(`"${args}" ended with ${status}:\n${output}`);
}

function copy(args: string, folder: string, app: string): void {
  const { from, sources, target } = copyOf(args);
  for (const source of sources) {
    if (from !== undefined) {
      cpSync(join(folder, from, source), join(app, target), { recursive: true });
      continue;
    }
    for (const file of visibleFiles(ROOT, source, DOCKERIGNORE)) {
      const inside = target === './' ? file : join(target, file.slice(source.length));
      cpSync(join(ROOT, file), join(app, inside));
    }
  }
}
