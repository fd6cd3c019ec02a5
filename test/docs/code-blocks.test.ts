/** Every code block of the pages is run by a test, checked, or marked as output; CONTRIBUTING.md has the tags. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { isRun, scriptsIn } from '../support/server/documented-commands.ts';
import { CHECKED_BY, codeBlocksOf, indentedBlocksOf, NOT_RUN, PAGES } from './code-blocks.ts';
import { shellFaults } from './shell-words.ts';

const BLOCKS = PAGES.flatMap(codeBlocksOf);
const named = (tag: string) => BLOCKS.filter((block) => block.tag === tag);
const places = (blocks: typeof BLOCKS) =>
  blocks.map(({ page, line, tag }) => ({ page, line, tag }));

test('every code block has a tag that says what checks it', () => {
  const known = { ...CHECKED_BY, ...NOT_RUN };

  expect(BLOCKS.length).toBeGreaterThan(100);
  expect(places(BLOCKS.filter(({ tag }) => !(tag in known)))).toEqual([]);
  expect(PAGES.flatMap(indentedBlocksOf)).toEqual([]);
});

test('every test that a tag names is there', () => {
  const files = Object.values({ ...CHECKED_BY, ...NOT_RUN }).flatMap(
    (text) => text.match(/test\/[\w/-]+\.test\.ts/g) ?? [],
  );

  expect(files.length).toBeGreaterThan(3);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});

test('CONTRIBUTING.md has every tag of a block that is not run', () => {
  const text = readFileSync('CONTRIBUTING.md', 'utf8');

  expect(Object.keys(NOT_RUN).filter((tag) => !text.includes(`| \`${tag}\` |`))).toEqual([]);
});

test('every block that is marked sh is one that test/e2e/parallel/documented.test.ts runs', () => {
  const reads = (page: string) => scriptsIn(readFileSync(page, 'utf8'));
  const notRun = named('sh').filter(
    ({ page, text }) => !(isRun(page, text) && reads(page).includes(text)),
  );

  expect(places(notRun)).toEqual([]);
});

test.each(
  [
    ...Object.keys(NOT_RUN),
    'sh',
    'sh carrier',
    'sh download',
    'sh operator',
    'sh receiver',
    'sh speech',
  ].flatMap(named),
)('$page:$line has commands, options, files and settings that are there', ({ text }) => {
  expect(shellFaults(text)).toEqual([]);
});

test.each(named('json'))('$page:$line parses', ({ text }) => {
  expect(() => JSON.parse(text)).not.toThrow();
});

test.each(named('ini'))('$page:$line has settings that the server takes', ({ text }) => {
  const lines = text.split('\n').filter((line) => /^[^#]/.test(line));

  expect(shellFaults(text)).toEqual([]);
  expect(() =>
    readConfig(Object.fromEntries(lines.map((line) => line.split(/=(.*)/, 2)))),
  ).not.toThrow();
});

test.each(named('ini asterisk'))('$page:$line has sections and options alone', ({ text }) => {
  const lines = text.split('\n').filter((line) => line !== '');

  expect(lines.filter((line) => !/^(\[[\w-]+\]|\w+=\S+|;.*)$/.test(line))).toEqual([]);
});

test.each([
  ['npm run admni -- account list', 'there is no script "npm run admni"'],
  ['npm run admin -- account lisst', 'account has no command "lisst"'],
  ['npm run admin -- account list --jsn', 'list has no option "--jsn"'],
  ['cd /opt && npm start -- --prot', 'npm start -- --prot'],
  ['npm run models -- --profil small', 'models has no option "--profil"'],
  ['SIP_HSOT=0.0.0.0 npm start', 'there is no setting "SIP_HSOT"'],
  ['sh examples/deploy/make-secret.sh', 'there is no file "examples/deploy/make-secret.sh"'],
  ['npm run bench -- capacityy', 'there is no bench "capacityy"'],
])('shellFaults finds what is wrong in "%s"', (text, fault) => {
  expect(shellFaults(text)).toEqual([fault]);
});
