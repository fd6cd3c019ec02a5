/** Code blocks of the Markdown pages, and what their tags promise. */
import { globSync, readFileSync } from 'node:fs';

export interface CodeBlock {
  readonly page: string;
  /** Line of the page, from 1. */
  readonly line: number;
  /** What follows the three backticks: a language, and for shell commands why they are not run. */
  readonly tag: string;
  readonly text: string;
}

/** Pages whose blocks are held to the tags. */
export const PAGES: readonly string[] = globSync([
  ...['*.md', 'docs/**/*.md', 'examples/**/*.md', 'clients/README.md', 'sip-config/README.md'],
  ...['models/README.md', 'observability/README.md'],
]).toSorted();

/** Tags of shell blocks that no test runs, and why not; the commands in them are looked up. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  'sh servers':
    'builds, starts or needs drachtio-server and FreeSWITCH: test/real/documented.test.ts starts them',
  'sh gpu': 'downloads the libraries of a graphics card from its maker',
  'sh start': 'installs and starts the server, as .ci/bare-debian does',
  'sh long':
    'takes minutes: .ci/run, test/integration/self-test.test.ts and test/integration/client-packages.test.ts do the same',
  'sh example': 'is an example, which test/e2e/parallel/example*.test.ts run',
};

/** Blocks of other languages: what checks them. */
export const CHECKED_BY: Readonly<Record<string, string>> = {
  sh: 'test/e2e/parallel/documented.test.ts',
  'sh operator': 'test/e2e/parallel/documented-deploy.test.ts',
  'sh download': 'test/integration/documented-downloads.test.ts',
  'sh speech': 'test/e2e/parallel/documented-programs.test.ts',
  'sh carrier': 'test/e2e/parallel/documented-programs.test.ts',
  'sh receiver': 'test/e2e/parallel/documented-programs.test.ts',
  json: 'this test: it parses',
  ini: 'this test: settings of ours, with values that the server takes',
  'ini asterisk': 'this test: sections and options',
  js: 'test/webhook/documented-receiver.test.ts',
  caddy: 'test/deploy/docs.test.ts',
  nft: 'test/real/nat.test.ts',
  text: 'nothing: it is output, or a picture',
};

export function codeBlocksOf(page: string): readonly CodeBlock[] {
  const text = readFileSync(page, 'utf8');
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    tag: match[1] ?? '',
    text: match[2] ?? '',
  }));
}

/** Blocks that are marked by indentation alone, which has no place for a tag; `page:line`. */
export function indentedBlocksOf(page: string): readonly string[] {
  const bare = (block: string) => block.replaceAll(/[^\n]/g, '');
  const text = readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, bare);
  return [...text.matchAll(/(?<=^|\n\n) {4}\S/g)].map(
    ({ index }) => `${page}:${text.slice(0, index).split('\n').length}`,
  );
}
