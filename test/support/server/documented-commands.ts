/** Commands as an operator's page shows them; pure */

export interface DocumentedCommand {
  /** Assignments in front of it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly program: string;
  /** The whole command for a shell, without the assignments. */
  readonly text: string;
}

/** Every command of the page's shell blocks, run or not, in their order; lines that end with a backslash are one. */
export function commandsIn(page: string): readonly DocumentedCommand[] {
  const blocks = [...page.matchAll(/^```sh(?: \w+)?\n([\s\S]*?)^```/gm)].map(
    ([, block = '']) => block,
  );
  const lines = blocks.flatMap((block) => block.replace(/\\\n\s*/g, '').split('\n'));
  return lines.filter((line) => line.trim() !== '').map(commandOf);
}

/** Blocks of the page that are one shell script each: those marked `sh` alone. */
export function scriptsIn(page: string): readonly string[] {
  return [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
}

/** Whether `documented.test.ts` runs a script of a page: requests and commands for a server that runs. */
export function isRun(page: string, script: string): boolean {
  return isRunPage(page) && /^(curl|npm run admin|export|printf) /.test(script);
}

/** Pages whose scripts run: those of the decisions and the reference have none. */
export function isRunPage(page: string): boolean {
  return /^(README|docs\/(tutorials\/)?[\w-]+|examples\/[\w-]+\/README)\.md$/.test(page);
}

/** The part of a page beneath a heading. @throws {Error} when there is no such heading. */
export function sectionOf(page: string, heading: string): string {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`Cannot find the heading "${heading}"`);
  return section;
}

/** A command line, with the assignments in front of it taken apart. */
export function commandOf(line: string): DocumentedCommand {
  const [, assignments = '', text = ''] = /^((?:[A-Z][A-Z0-9_]*=\S* +)*)(.*)$/.exec(line) ?? [];
  const pairs = assignments
    .trim()
    .split(/ +/)
    .filter((each) => each !== '');
  return {
    environment: Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s, 2))),
    program: text.split(' ', 1)[0] ?? '',
    text,
  };
}
