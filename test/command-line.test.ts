import { expect, test } from 'vitest';
import { readCommandLine } from '../src/cli/server-command-line.ts';

test.each([
  [[], 'serve'],
  [['--help'], 'help'],
  [['-h'], 'help'],
  [['--version'], 'version'],
  [['--print-config'], 'print-config'],
  [['--prot', '3000'], 'wrong'],
  [['--help', 'me'], 'wrong'],
  [['constructor'], 'wrong'],
  [['start'], 'serve'],
  [['start', '--help'], 'help'],
  [['start', 'doctor'], 'wrong'],
])('readCommandLine(%j) is %s', (words, kind) => {
  expect(readCommandLine(words).kind).toBe(kind);
});

test.each([
  [['doctor', '--json'], 'admin', ['doctor', '--json']],
  [['trunk', 'check', 'acme'], 'admin', ['trunk', 'check', 'acme']],
  [['admin', 'key', 'list'], 'admin', ['key', 'list']],
  [['models', '--list'], 'models', ['--list']],
])('readCommandLine(%j) leads to the program %s with %j', (words, program, own) => {
  expect(readCommandLine(words)).toEqual({ kind: 'program', program, words: own });
});

test('readCommandLine names the word that it does not know', () => {
  expect(readCommandLine(['--port=1'])).toMatchObject({
    problem: expect.stringContaining('"--port=1"'),
  });
});
