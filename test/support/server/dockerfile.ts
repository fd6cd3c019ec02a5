/** Reads a Dockerfile and a .dockerignore, as far as ours use them. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface Instruction {
  /** In capitals, such as `RUN`. */
  readonly name: string;
  /** What follows, its lines joined by a space. */
  readonly args: string;
}

export interface Stage {
  /** As `AS` calls it; the last stage needs none. */
  readonly name: string;
  /** Image, or the name of a stage before. */
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** @throws {RangeError} when something stands before the first FROM that is not ARG. */
export function stagesOf(text: string): Stage[] {
  const stages: (Stage & { readonly instructions: Instruction[] })[] = [];
  for (const instruction of instructionsOf(text)) {
    const { name, args } = instruction;
    if (name === 'FROM') {
      const [base = '', , stageName = ''] = args.split(/\s+/);
      stages.push({ name: stageName, base, instructions: [] });
    } else if (stages.length > 0) stages.at(-1)?.instructions.push(instruction);
    else if (name !== 'ARG') throw new RangeError(`Cannot read "${name}": it stands before FROM`);
  }
  return stages;
}

function instructionsOf(text: string): Instruction[] {
  const lines = text.split('\n').filter((line) => !/^\s*(#|$)/.test(line));
  const joined = lines.join('\n').replace(/\s*\\\n\s*/g, ' ');
  return joined.split('\n').map((line) => {
    const [, name = '', args = ''] = /^(\S+)\s*(.*)$/.exec(line) ?? [];
    return { name: name.toUpperCase(), args };
  });
}

/** The words of an instruction in exec form; undefined where it is not in exec form. */
export function execForm(args: string): readonly string[] | undefined {
  try {
    const words: unknown = JSON.parse(args);
    const isExec = Array.isArray(words) && words.every((word) => typeof word === 'string');
    return isExec ? words : undefined;
  } catch {
    // Not JSON: shell form.
    return undefined;
  }
}

export interface Copy {
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly target: string;
}

export function copyOf(args: string): Copy {
  const words = args.split(/\s+/);
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const paths = words.filter((word) => !word.startsWith('--'));
  return { from, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' };
}

/** The files of the build's context below a path, as `.dockerignore` leaves them; relative, with `/`. */
export function visibleFiles(root: string, path: string, dockerignore: string): string[] {
  const patterns = dockerignore.split('\n').filter((line) => !/^\s*(#|$)/.test(line));
  return filesBelow(root, path).filter((file) => !isIgnored(file, patterns));
}

/** The last pattern that names a file or one of its folders decides. */
function isIgnored(file: string, patterns: readonly string[]): boolean {
  const parts = file.split('/');
  const itselfAndFolders = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  const decides = patterns.findLast((pattern) => {
    const glob = globOf(pattern.replace(/^!/, '').replace(/^\/|\/$/g, ''));
    return itselfAndFolders.some((name) => glob.test(name));
  });
  return decides !== undefined && !decides.startsWith('!');
}

/** Unlike a shell's, this star stands for a dot in front too. */
function globOf(pattern: string): RegExp {
  const source = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '[^/]*');
  return new RegExp(`^${source}$`);
}

function filesBelow(root: string, path: string): string[] {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (!stat.isDirectory()) return [path];
  return readdirSync(join(root, path)).flatMap((name) => filesBelow(root, `${path}/${name}`));
}
