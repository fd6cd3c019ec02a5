/** Finds in vitest's JSON report what failed; pure */
import { relative } from 'node:path';

/** As many lines are kept of what a test says. */
const MOST_LINES = 4;

/** The part of vitest's JSON report (https://vitest.dev/guide/reporters) that is read here. */
export interface TestReport {
  readonly testResults: readonly {
    /** The file, with its whole path. */
    readonly name: string;
    readonly status: string;
    /** Why the file did not load; empty if it did. */
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

/** Gives each failed test as `file: name`, and the first lines of why; a file that did not load counts as one. */
export function failuresIn({ testResults }: TestReport, root = process.cwd()): readonly string[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults
      .filter((test) => test.status === 'failed')
      .map(({ fullName, failureMessages }) => told(`${file}: ${fullName}`, failureMessages?.[0]));
    return failed.length === 0 && status === 'failed' ? [told(file, message)] : failed;
  });
}

/** Gives the files with a failed test, or which did not load. */
export function failedFilesIn({ testResults }: TestReport): readonly string[] {
  return testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
}

function told(what: string, why: string | undefined): string {
  const lines = (why ?? '').split('\n').filter((line) => line.trim() !== '');
  return [what, ...lines.slice(0, MOST_LINES).map((line) => `  ${line}`)].join('\n');
}
